"""Heist and Morton 2021 as a study: two flows of Prague and CUBIC in shared queues, steps of rate, bursts."""
