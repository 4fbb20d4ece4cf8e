import ExampleSupport
import FoundationEssentials
import Linnet

/// The connection: trust, the way to the server, and time.
struct ConnectionPlan {
    private static let longestTimeout = 1_000_000.0

    let policy: SecurityPolicy
    let identities: ClientIdentityPolicy
    /// Whether any certificate is accepted.
    let isInsecure: Bool
    /// The timeout of the whole request; nil for none.
    let timeout: Duration?
    let httpVersions: HTTPVersions
    let proxies: ProxyPolicy
    let resolution: TransportConfiguration.Resolution
    let redirects: RedirectPolicy
    let retries: RetryPolicy

    init(_ arguments: ConnectionArguments, url: URL) throws {
        policy = try TrustPlan.policy(arguments, url: url)
        identities = try IdentityPlan.policy(arguments, url: url)
        isInsecure = arguments.isInsecure
        httpVersions = try Self.versions(arguments)
        timeout = try arguments.timeout.map(Self.timeout)
        proxies = try Self.proxies(arguments, url)
        resolution = try ResolutionPlan.resolution(arguments, url: url)
        redirects = arguments.followsRedirects || ProgramName.isProgram(of: "request") ? .follow : .doNotFollow
        retries = try Self.retries(arguments.retry)
    }

    private static func timeout(_ seconds: Double) throws -> Duration {
        guard seconds > 0, seconds <= longestTimeout else {
            throw UsageError("--timeout \(seconds) is out of range; specify seconds above 0, up to 1000000.")
        }
        return .seconds(seconds)
    }

    private static func versions(_ arguments: ConnectionArguments) throws -> HTTPVersions {
        guard !arguments.usesHTTP1 || !arguments.usesHTTP2 else {
            throw UsageError("--http1 and --http2 exclude each other.")
        }
        return arguments.usesHTTP1 ? .http1 : arguments.usesHTTP2 ? .http2 : .automatic
    }

    private static func retries(_ limit: Int) throws -> RetryPolicy {
        guard (0...100).contains(limit) else { throw UsageError("--retry \(limit) is out of range; specify 0 to 100.") }
        return .limited(to: limit)
    }

    /// The proxy of the option; otherwise the environment's, except to this machine.
    private static func proxies(_ arguments: ConnectionArguments, _ url: URL) throws -> ProxyPolicy {
        guard let proxy = arguments.proxy else {
            let isDirect = ResolutionPlan.isThisMachine(url) || arguments.unixSocket != nil
            return isDirect ? .none : .environment
        }
        if proxy.isEmpty { return .none }
        do {
            return .fixed(try Proxy(proxy))
        } catch {
            throw UsageError("--proxy: " + error.message)
        }
    }
}
