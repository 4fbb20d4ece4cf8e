"""Tests of needs-servers, and of what is said about a server that does not start."""

import importlib.machinery
import importlib.util
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True


def module(path):
    loader = importlib.machinery.SourceFileLoader(path.name.replace("-", "_"), str(path))
    made = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.path.insert(0, str(path.parent))
    loader.exec_module(made)
    return made


SCRIPT = module(ROOT / ".ci" / "needs-servers")

INTEGRATION = """\
@Suite(.timeLimit(.minutes(1)))
struct ProxyTests {
    @Test func squidIsUsed() async throws {}
    @Test(arguments: [1]) func aTunnel(to host: String, _ ports: [Int: (String, Int)]) async {}
}
"""
NEIGHBOUR = """\
struct PinTests {
    @Test(.enabled(if: environment["LINNET_TEST_CA"] != nil)) func nginxIsPinned() throws {}
}
"""
PLAIN = """\
struct SlowTests {
    @Test(.enabled(if: environment["LINNET_TEST_SLOW"] != nil)) func aProxyIsSlow() {}
}
"""


class NeedsServersTests(unittest.TestCase):
    def needs(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            tests = pathlib.Path(folder)
            for target, text in [("IntegrationTests", INTEGRATION), ("PinsTests", NEIGHBOUR), ("CacheTests", PLAIN)]:
                (tests / target / "Deep").mkdir(parents=True)
                (tests / target / "Deep" / f"{target}File.swift").write_text(text)
            return SCRIPT.needs_servers(list(arguments), tests)

    def test_all_tests_need_servers(self):
        self.assertTrue(self.needs())
        self.assertTrue(self.needs("--skip", "ProxyTests"))

    def test_filters_of_other_tests_need_none(self):
        for pattern in ["CacheTests", "aProxyIsSlow", "^ProxyTests", "Nothing", "SlowTests/"]:
            self.assertFalse(self.needs("--filter", pattern), pattern)
            self.assertFalse(self.needs(f"--filter={pattern}"), pattern)

    def test_filters_of_their_tests_need_servers(self):
        for pattern in ["IntegrationTests", "Proxy", "ProxyTests/squid", "squidIsUsed\\(\\)", "aTunnel\\(to:_:\\)",
                        "IntegrationTests.ProxyTests/aTunnel", "nginxIsPinned", "PinsTests", "CacheTests|squid"]:
            self.assertTrue(self.needs("--filter", pattern), pattern)
            self.assertTrue(self.needs("--parallel", f"--filter={pattern}"), pattern)

    def test_one_of_several_filters_is_enough(self):
        self.assertTrue(self.needs("--filter", "CacheTests", "--filter", "squid"))
        self.assertFalse(self.needs("--filter", "CacheTests", "--filter", "SlowTests"))

    def test_a_filter_that_is_not_understood_needs_servers(self):
        self.assertTrue(self.needs("--filter", "(?<name>Cache"))

    def test_the_tests_of_the_repository_are_found(self):
        self.assertTrue(SCRIPT.needs_servers(["--filter", "IntegrationTests.ProxyTests/"]))
        self.assertTrue(SCRIPT.needs_servers(["--filter", "LinnetPinsTests"]))
        self.assertFalse(SCRIPT.needs_servers(["--filter", "SecurityTests"]))


class ServerLogTests(unittest.TestCase):
    def setUp(self):
        self.start = module(ROOT / "Tests" / "IntegrationTests" / "Servers" / "start")

    def logs(self, name, files):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "logs").mkdir()
            for file, text in files.items():
                (pathlib.Path(folder) / "logs" / file).write_text(text)
            return self.start.logs_of(pathlib.Path(folder), name)

    def test_the_end_of_the_server_s_own_log_is_shown(self):
        files = {"httpbin-error.log": "first\n" * 30 + "no module named httpbin\n", "squid.log": "well\n"}
        text = self.logs("HTTPBIN", files)
        self.assertIn("httpbin-error.log:", text)
        self.assertIn("no module named httpbin", text)
        self.assertNotIn("well", text)
        self.assertEqual(text.count("first"), 19)

    def test_nginx_has_two_logs(self):
        text = self.logs("TLS", {"nginx.out": "cannot bind\n", "error.log": "port in use\n", "ocsp.log": "well\n"})
        self.assertIn("cannot bind", text)
        self.assertIn("port in use", text)
        self.assertNotIn("well", text)

    def test_without_an_own_log_those_of_all_are_shown(self):
        text = self.logs("SQUID_BASIC", {"squid_basic.log": "", "squid_digest.log": "out of memory\n"})
        self.assertIn("out of memory", text)


if __name__ == "__main__":
    unittest.main()
