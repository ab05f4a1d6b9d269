"""What a coding session teaches, kept private: hook, sanitiser, jobs, consent and search.

hook -> sanitise -> one transaction {conversation, message, log of findings, job}. A worker then validates and extracts.
No network call is made unless the user has switched one on.
"""
