"""The published studies that come with the package: a folder each, read like any other study's."""
