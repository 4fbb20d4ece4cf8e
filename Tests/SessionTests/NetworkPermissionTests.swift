import FoundationEssentials
import LinnetReachability
import LinnetSerialization
import LinnetTesting
import Testing

@testable import LinnetSession

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct NetworkPermissionTests {
    private static func status(_ kind: ReachabilityStatus.Kind) -> ReachabilityStatus {
        .reachable(via: kind, interfaceName: "x0", supportsIPv4: true, supportsIPv6: false)
    }

    private func failure(
        _ status: ReachabilityStatus?, _ configure: (inout RequestOptions) -> Void
    ) throws -> SessionError.Code? {
        var request = try makeRequest()
        configure(&request.options)
        var permission = NetworkPermission(status: nil)
        if let status { permission = NetworkPermission(status: { status }) }
        do throws(SessionError) {
            try permission.check(request)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func anExpensiveNetworkIsUsedUnlessForbidden() throws {
        let cellular = Self.status(.cellular)
        #expect(try failure(cellular) { _ in } == nil)
        #expect(try failure(cellular) { $0.allowsExpensiveNetworks = true } == nil)
        #expect(try failure(cellular) { $0.allowsExpensiveNetworks = false } == .networkNotAllowed)
        #expect(try failure(Self.status(.ethernet)) { $0.allowsExpensiveNetworks = false } == nil)
        #expect(try failure(.notReachable) { $0.allowsExpensiveNetworks = false } == nil)
        #expect(try failure(.unknown) { $0.allowsExpensiveNetworks = false } == .networkNotAllowed)
    }

    @Test(arguments: Surface.allCases)
    func avoidingExpensiveNetworksNeedsAMonitor(surface: Surface) async throws {
        let transport = StubTransport { _ in .json("1") }
        let client = try makeClient(transport)
        var options = RequestOptions()
        options.allowsExpensiveNetworks = false
        #expect(await surface.send("a", options: options, with: client).error?.code == .invalidConfiguration)
        #expect(transport.requests.isEmpty)
    }

    @Test(arguments: Surface.allCases)
    func aRequestForCachedResponsesOnlyIsNotSent(surface: Surface) async throws {
        let transport = StubTransport { _ in .json("1") }
        let client = try makeClient(transport)
        var options = RequestOptions()
        options.cachePolicy = .cacheOnly
        let error = await surface.send("a", options: options, with: client).error
        #expect(error?.code == .notCached)
        #expect(error?.url?.path() == "/api/a")
        #expect(transport.requests.isEmpty)
        options.cachePolicy = .cacheElseLoad
        #expect(try await surface.send("a", options: options, with: client).get().value == 1)
    }
}
