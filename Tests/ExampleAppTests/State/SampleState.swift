import FoundationEssentials
import Linnet
import LinnetImageSerialization

@testable import ExampleApp

/// States for tests of the app's logic and looks.
enum SampleState {
    static let now = Date(timeIntervalSince1970: 1_700_000_000)

    private static let pictures = SamplePosts.names.compactMap { name in
        SampleAvatar.picture(name).map { (name, $0) }
    }

    /// A loaded timeline with all pictures.
    static func loaded(width: Int = 80, height: Int = 24) -> TimelineState {
        var state = TimelineState(
            server: "localhost:4433", size: TerminalSize(width: width, height: height), now: now)
        _ = state.apply(.loaded(SamplePosts.posts(at: now, host: "localhost:4433"), facts))
        for (name, picture) in pictures {
            guard let post = state.posts.first(where: { $0.user.username == name }) else { continue }
            _ = state.apply(.avatar(post.user, picture))
        }
        var live = LiveState()
        live.network = "ethernet eth0"
        live.networkDetail = "reachable via ethernet (eth0, IPv4)"
        (live.pictureCount, live.pictureBytes) = (7, 7 * 96 * 96 * 4)
        _ = state.apply(.live(live))
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

    static func transfer(_ phase: TransferStatus.Phase = .running) -> TransferStatus {
        var transfer = TransferStatus(.download, name: "birds-1000.bin")
        transfer.phase = phase
        (transfer.completed, transfer.total) = (1_258_291, 3_145_728)
        (transfer.bytesPerSecond, transfer.secondsLeft) = (1_200_000, 1.6)
        return transfer
    }
}
