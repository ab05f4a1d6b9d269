-- move_shown: every role may learn that the jobs went elsewhere, and where.
grant select on holdfast_move to public
