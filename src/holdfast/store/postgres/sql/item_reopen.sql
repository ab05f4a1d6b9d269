-- item_reopen: an item that had failed is tried again by a person.
update job_items set status = 'own', result = null, error = null
where batch = :batch and number = :number and status in ('failed', 'unrun')
