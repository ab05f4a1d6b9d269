"""What a coding session teaches, kept private: hook, sanitiser, jobs, consent and search.

hook -> sanitise -> one transaction {conversation, message, log of findings, job}. A worker then validates and extracts.
Nothing here makes a network call.
"""
