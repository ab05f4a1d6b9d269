"""What pipelines ask of the outside, or of rules in its place: validators and extractors. They know nothing of jobs."""
