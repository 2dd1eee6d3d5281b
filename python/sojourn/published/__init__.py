"""The studies that come with the package, published ones and the laboratory of measuring methods: a folder each, read like any other study's."""
