import CommandSupport
import FoundationEssentials
import Testing

@testable import LinnetOAuth

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// Processes with a PATH of their own.
@Suite(.timeLimit(.minutes(2)))
struct OpenInBrowserTests {
    @Test func xdgOpenGetsTheAddressAsItIs() async throws {
        try await Scratch.with { scratch in
            let script = try scratch.write(
                "xdg-open",
                "#!/bin/sh\nprintf %s \"$1\" >\"\(scratch.file("new"))\"\n"
                    + "/bin/mv \"\(scratch.file("new"))\" \"\(scratch.file("seen"))\"\n")
            chmod(script, 0o755)
            let folder: String = scratch.path
            await #expect(processExitsWith: .success) { [folder = folder as String] in
                setenv("PATH", folder, 1)
                let url = try #require(URL(string: "https://example.com/a?b=$(id)&c='\"`"))
                try await OAuthClient.openInBrowser(url)
                while !FileManager.default.fileExists(atPath: folder + "/seen") {
                    try await Task.sleep(for: .milliseconds(5))
                }
                #expect(try String(contentsOfFile: folder + "/seen", encoding: .utf8) == url.absoluteString)
            }
        }
    }

    @Test func aMissingXdgOpenIsAnError() async throws {
        await #expect(processExitsWith: .success) {
            setenv("PATH", "/nowhere", 1)
            let url = try #require(URL(string: "https://example.com"))
            #expect(await oauthError { try await OAuthClient.openInBrowser(url) }?.code == .browserUnavailable)
        }
    }

    @Test(arguments: ["file:///etc/passwd", "javascript:alert(1)", "-x"])
    func onlyPagesAreOpened(url: String) async throws {
        let url = try #require(URL(string: url))
        #expect(await oauthError { try await OAuthClient.openInBrowser(url) }?.code == .invalidConfiguration)
    }
}
