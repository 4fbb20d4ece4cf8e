import Linnet
import LinnetImageSerialization

/// All that is shown: a snapshot of a ``TimelineModel``, which each face of the app draws in its own way.
struct TimelineState: Sendable {
    /// The host and port of the server.
    var server: String
    var posts: [Post] = []
    /// The users' pictures that have arrived.
    var avatars: [User: Bitmap] = [:]
    /// About the last response.
    var facts: ResponseFacts?
    /// The last requests, and when their parts began and ended.
    var waterfall = Waterfall([])
    /// Why the certificate of the last connection was refused; nil if it was not.
    var refusal: TrustRefusal?
    /// The last message, and whether it reports an error.
    var message: String?
    var isError = false
    /// The current or the last transfer.
    var transfer: Transfer?
    var network = ReachabilityStatus.unknown
    /// Whether the timeline is being loaded (`RefreshState`).
    var isRefreshing = false
    /// Whether the network activity indicator is shown (`NetworkActivityIndicator`).
    var isIndicatorVisible = false
    /// The number of running requests.
    var requestCount = 0
    /// The pictures in memory, and their decoded size.
    var pictures = (count: 0, bytes: 0)

    /// The warning while there is no network.
    var banner: String? { network.isKnown && !network.isReachable ? "No network: \(network)" : nil }

    /// The network, the connection and the cache in a few words.
    var summary: String {
        let interface = network.kind.map { "\($0) \(network.interfaceName ?? "")" } ?? network.description
        return ([interface] + (facts?.words ?? [])).joined(separator: " · ")
    }
}
