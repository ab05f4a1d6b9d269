-- upload_account_add: an account that has not signed here yet.
insert into upload_accounts (chain, account) values (:chain, :account) on conflict do nothing;
