"""The names of LMCache's variables."""

from dpd.catalog.lmcache import lmcache_variables


def test_names_have_the_prefix_and_are_upper_case() -> None:
    """Settings, aliases and what is read beside them."""
    names = lmcache_variables()
    assert {"LMCACHE_CHUNK_SIZE", "LMCACHE_PD_BUFFER_SIZE", "LMCACHE_LOG_LEVEL"} <= names
    assert all(name.startswith("LMCACHE_") and name == name.upper() for name in names)
