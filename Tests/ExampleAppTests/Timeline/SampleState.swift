import FoundationEssentials
import Linnet
import LinnetImageSerialization

@testable import ExampleApp

/// States for tests of the app's logic and looks.
enum SampleState {
    static let now = Date(timeIntervalSince1970: 1_700_000_000)
    static let pictures = SamplePosts.names.map { ($0, SampleAvatar.picture($0)) }

    /// A loaded timeline with all pictures.
    static func loaded() -> TimelineState {
        var state = TimelineState(server: "localhost:4433")
        state.posts = SamplePosts.posts(at: now, host: "localhost:4433")
        for (name, picture) in pictures {
            guard let post = state.posts.first(where: { $0.user.username == name }) else { continue }
            state.avatars[post.user] = picture
        }
        state.facts = facts
        state.waterfall = waterfall
        state.network = .reachable(via: .ethernet, interfaceName: "eth0", supportsIPv4: true, supportsIPv6: false)
        state.pictures = (7, 7 * 96 * 96 * 4)
        return state
    }

    /// The facts of a response over a pinned connection.
    static var facts: ResponseFacts {
        var metrics = TransportMetrics()
        let start = ContinuousClock.now
        metrics.start = start
        metrics.connect = .init(start: start, end: start + .microseconds(1_200))
        metrics.tlsHandshake = .init(start: start, end: start + .microseconds(3_400))
        metrics.responseEnd = start + .microseconds(8_900)
        metrics.httpVersion = "http/1.1"
        metrics.connectionID = 1
        metrics.tlsVersion = "TLSv1.3"
        metrics.tlsCipher = "TLS_AES_256_GCM_SHA384"
        metrics.verifiedPins = ["sha256/Vjs8r4z+80wjNcr1YKepWQboSIRi63WsWXhIMN+eWys="]
        metrics.isPinned = true
        metrics.responseBodyBytes = 12_345
        let url = URL(filePath: "/")
        var response = SessionResponse(value: (), url: url, head: HTTPResponse(status: .ok), metrics: [metrics])
        response.cacheOutcome = .miss
        var facts = ResponseFacts(response)
        facts.url = "https://localhost:4433/stream/0/posts/stream/global?count=20"
        return facts
    }

    /// A request over a new connection, and a response of the cache.
    static var waterfall: Waterfall {
        let start = ContinuousClock.now
        let spans: [(RequestTrace.Part, Int, Int)] = [
            (.connect, 0, 1_200), (.handshake, 1_200, 3_400), (.firstByte, 3_500, 8_000), (.body, 8_000, 8_900),
        ]
        let bars = spans.map { part, first, last in
            RequestTrace.Bar(part: part, start: start + .microseconds(first), end: start + .microseconds(last))
        }
        return Waterfall([
            RequestTrace(name: "GET global", outcome: "200", start: start, bars: bars),
            RequestTrace(
                name: "GET ada.png", outcome: "from the cache", start: start + .microseconds(9_100), bars: []),
        ])
    }

    static func transfer(_ phase: Transfer.Phase = .running) -> Transfer {
        Transfer(
            isUpload: false, name: "birds-1000.bin", phase: phase,
            progress: TransferProgress(completed: 1_258_291, total: 3_145_728, bytesPerSecond: 1_200_000))
    }

    /// A refused pin.
    static func refusal() throws -> TrustRefusal {
        let seen = try PublicKeyPin("sha256/Vjs8r4z+80wjNcr1YKepWQboSIRi63WsWXhIMN+eWys=")
        let wanted = try PublicKeyPin("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
        let trust = ServerTrust(host: "localhost", port: 4433, presentedChain: [])
        return TrustRefusal(.pinMismatch, "No pin.", trust: trust, seenPins: [seen], wantedPins: [wanted])
    }
}
