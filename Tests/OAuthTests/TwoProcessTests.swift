import CommandSupport
import Dispatch
import FoundationEssentials
import LinnetSession
import LinnetTesting
import Testing

@testable import LinnetOAuth

/// Threads for tests that wait for other processes. They block while the process runs, and would leave no thread for
/// the server that it talks to.
private final class WaitingThreads: TaskExecutor {
    static let shared = WaitingThreads()

    private let queue = DispatchQueue(label: "processes", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Two programs that share a token file.
@Suite(.timeLimit(.minutes(5)))
struct TwoProcessTests {
    private static let renewals = 200

    @Test func twoProcessesNeverUseARefreshTokenTwice() async throws {
        let issuer = RotatingIssuer()
        try await withMockServer(handler: { issuer.respond(to: $0) }) { server in
            try await Scratch.with { scratch in
                let path = scratch.file("token")
                let store = try FileTokenStore(URL(filePath: path))
                try await store.replace(with: OAuthToken(accessToken: "a0", refreshToken: "r0"))
                let url = server.url.absoluteString
                let processes = (0..<2).map { _ in
                    Task(executorPreference: WaitingThreads.shared) { await Self.run(path, url) }
                }
                for process in processes { await process.value }
                #expect(issuer.count == Self.renewals && issuer.violations == 0)
                let last = OAuthToken(accessToken: "a\(Self.renewals)", refreshToken: "r\(Self.renewals)")
                #expect(try await store.token()?.accessToken == last.accessToken)
                #expect(try await store.token()?.refreshToken == last.refreshToken)
            }
        }
    }

    /// Runs a process that treats each token as refused, until the last one.
    private static func run(_ path: String, _ url: String) async {
        await #expect(processExitsWith: .success) { [path = path as String, url = url as String] in
            let session = try HTTPSession()
            let endpoint = try #require(URL(string: url + "/token"))
            let client = OAuthClient(
                id: "finch", server: OAuthServerMetadata(issuer: url, tokenEndpoint: endpoint), session: session)
            let rules = OAuthAuthenticator(client: client, store: try FileTokenStore(URL(filePath: path)))
            var token = try await rules.store.token()
            while token?.accessToken != "a\(Self.renewals)" { token = try await rules.renew(token) }
            await session.shutdown()
        }
    }
}
