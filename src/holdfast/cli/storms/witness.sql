-- witness: every move of a job and every change of its token or result, written down by the database itself.
create table witness (
    number integer primary key, id text, old_status text, new_status text, old_token integer, new_token integer,
    result text);
create trigger witness after update of status, lease_token, result on job_queue
when old.status <> new.status or old.lease_token <> new.lease_token or old.result is not new.result begin
    insert into witness (id, old_status, new_status, old_token, new_token, result)
    values (new.id, old.status, new.status, old.lease_token, new.lease_token, new.result);
end;
