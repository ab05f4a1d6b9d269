-- upload_account: how many signatures the account has made here.
select signatures from upload_accounts where chain = :chain and account = :account;
