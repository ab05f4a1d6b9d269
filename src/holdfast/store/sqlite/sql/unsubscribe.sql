-- unsubscribe: forget a subscription; deliveries that are under way go on.
delete from job_subscriptions where name = :name
