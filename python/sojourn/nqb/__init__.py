"""Check of a sender that marks its packets as non-queue-building, and of its sanctions by queue protection."""
