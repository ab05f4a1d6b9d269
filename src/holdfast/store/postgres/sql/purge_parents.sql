-- purge_parents: nobody waits for deleted jobs, and they wait for nobody.
delete from job_parents where parent = any (:ids::text[]) or child = any (:ids::text[])
