import Foundation
import HTTPTypes
import LinnetAFNetworking
import LinnetMessages
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Synchronization
import Testing

/// A manager whose requests have a credential that is renewed, and that are signed.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct ManagerCredentialTests {
    private final class Issuer: Authenticator {
        private let renewals = Mutex(0)

        var count: Int { renewals.withLock { $0 } }

        func apply(_ token: Int, to request: inout SessionRequest) {
            request.headerFields[.authorization] = "Bearer \(token)"
        }

        func renew(_ token: Int?) async throws -> Int {
            renewals.withLock { $0 += 1 }
            return (token ?? 0) + 1
        }
    }

    @Test(arguments: [HTTPVersions.http1, .http2])
    func aThousandRequestsRenewOnce(version: HTTPVersions) async throws {
        var configuration = MockServer.Configuration()
        configuration.httpVersions = version == .http1 ? .http1 : .http2
        let signature = try #require(HTTPField.Name("X-Signature"))
        let routes = MockServer.Routes {
            $0.on("/*") { request in
                guard request.headerFields[.authorization] == "Bearer 2" else { return .status(.unauthorized) }
                return request.headerFields[signature] == "Bearer 2" ? .json("{}") : .status(.forbidden)
            }
        }
        try await withMockServer(routes: routes, configuration: configuration) { server in
            let (issuer, origin) = (Issuer(), try Origin(server.url))
            var session = HTTPSession.Configuration()
            session.httpVersions = version
            session.authenticator = .renewing(RenewableCredential(issuer, 1, for: [origin]))
            session.requestSigner = RequestSigner(for: [origin]) { request in
                request.headerFields[signature] = request.headerFields[.authorization]
            }
            let manager = AFHTTPSessionManager(
                baseURL: server.url, sessionConfiguration: URLSessionConfiguration(session))
            manager.completionQueue = DispatchQueue(label: "linnet.test.completion")
            let ends = EventRecorder<Bool>()
            for number in 0..<1000 {
                manager.get(
                    "\(number)", success: { _, _ in ends.record(true) }, failure: { _, _ in ends.record(false) })
            }
            #expect(try await ends.wait(count: 1000).allSatisfy { $0 })
            #expect(issuer.count == 1 && server.recordedRequests.count <= 2000)
            manager.invalidateSessionCancelingTasks(true, resetSession: false)
        }
    }
}
