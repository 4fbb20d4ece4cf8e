import Foundation
import Linnet

/// A kind of operation.
enum Kind: String, CaseIterable, Sendable {
    case get, head, stream, download, resumed, redirected, cached, cookie
    case post, put, patch, delete, keyed, hedged, moved
    case handle, timeout, session

    /// How often it is drawn.
    var weight: Int {
        switch self {
        case .get: 22
        case .stream: 12
        case .cached, .post: 10
        case .download, .cookie: 8
        case .put, .redirected: 6
        case .head, .patch: 5
        case .resumed, .delete, .handle: 4
        case .keyed, .hedged: 3
        case .moved, .timeout: 2
        case .session: 1
        }
    }

    var method: HTTPRequest.Method {
        switch self {
        case .head: .head
        case .post, .keyed, .moved: .post
        case .put: .put
        case .patch: .patch
        case .delete: .delete
        default: .get
        }
    }

    /// Whether the server may process a request of this kind only once.
    var isOnce: Bool { self == .post || self == .patch || self == .moved }

    /// Whether a retry policy makes a lost response good, up to the end of the body.
    var isCollected: Bool {
        switch self {
        case .get, .head, .cookie, .put, .delete, .keyed, .handle, .download: true
        default: false
        }
    }
}

/// What the server does to a request.
struct PlannedFault: Sendable {
    enum Effect: String, CaseIterable, Sendable {
        case close, reset, halfClose, truncate, garbage, stall, resetStream, goAway, unavailable, late
    }

    enum Point: String, CaseIterable, Sendable {
        case requestHead, requestBody, responseHead, responseBody, responseEnd
    }

    let effect: Effect
    let point: Point
    /// The offset in a body.
    let bytes: Int

    /// The value of the field `X-Fault`.
    var field: String { "\(effect.rawValue) \(point.rawValue) \(bytes)" }

    init(from random: inout Random, size: Int) {
        let effect = random.pick(Effect.allCases)
        let point = random.pick(Point.allCases)
        self.effect = effect
        // A connection that stalls after a whole response would be used again, and another request would wait on it.
        self.point = effect == .stall && point != .requestHead ? .responseHead : point
        bytes = Int.random(in: 0...max(1, size), using: &random)
    }

    init?(field: String) {
        let words = field.split(separator: " ").map(String.init)
        guard words.count == 3, let effect = Effect(rawValue: words[0]), let point = Point(rawValue: words[1]),
            let bytes = Int(words[2])
        else { return nil }
        (self.effect, self.point, self.bytes) = (effect, point, bytes)
    }

    /// The errors that it may cause; the request can also succeed, as when it comes after the response.
    var codes: Set<SessionError.Code> {
        switch effect {
        case .close, .reset, .halfClose, .truncate, .resetStream: [.connectionLost]
        case .garbage: [.connectionLost, .invalidResponse, .tlsFailed]
        case .stall: [.timeout]
        case .unavailable: [.unacceptableStatus]
        case .goAway, .late: []
        }
    }

    /// Whether it ends a whole connection, of HTTP/2 or of HTTP/1.1.
    func endsConnection(isHTTP2: Bool) -> Bool {
        switch effect {
        case .close, .reset, .halfClose, .truncate, .garbage: true
        case .resetStream: !isHTTP2
        default: false
        }
    }

    /// Whether a retry makes it good.
    var isTransient: Bool { effect != .garbage }
}

/// An operation as it is drawn for a number, without the state of the workers.
struct Draw: Sendable {
    static let largest = 50 << 20

    let number: UInt64
    let kind: Kind
    let lane: Lane.Name
    let size: Int
    let fault: PlannedFault?
    let isRetried: Bool
    /// The time after which it is cancelled.
    let cancellation: Duration?
    /// For decisions of the operation.
    var random: Random

    private static let deck = Kind.allCases.flatMap { Array(repeating: $0, count: $0.weight) }

    init(_ number: UInt64, seed: UInt64, lanes: [Lane.Name]) {
        var random = Random(seed: seed, number)
        self.number = number
        kind = random.pick(Self.deck)
        lane = random.pick(lanes)
        var size = Self.size(&random)
        // A link that loses packets is slow, and these kinds have their bodies in memory, or take long by design.
        if lane == .link { size %= 1 << 20 }
        if kind == .hedged || kind == .moved { size %= 64 << 10 }
        if kind == .timeout || kind == .session { size %= 4 << 10 }
        if kind == .resumed { size = 128 << 10 + size % (512 << 10) }
        self.size = size
        fault = random.happens(0.02) ? PlannedFault(from: &random, size: size) : nil
        isRetried = kind == .keyed || !kind.isOnce && kind != .timeout && random.happens(0.4)
        let isCancelled = random.happens(0.06)
        // Most operations take some milliseconds, some take long.
        let longest = random.happens(0.7) ? 8.0 : 200
        let wait = Duration.milliseconds(Double.random(in: 0..<longest, using: &random))
        cancellation = isCancelled ? wait : nil
        self.random = random
    }

    var content: Content { Content(seed: number, size: size) }

    /// The size above which a body is streamed, not collected.
    static let largestCollected = 10 << 20
    var isMadeGoodByRetries: Bool { isRetried && kind.isCollected && !(kind == .get && size > Self.largestCollected) }

    /// From nothing to 50 MiB; most are small.
    private static func size(_ random: inout Random) -> Int {
        switch Int.random(in: 0..<1000, using: &random) {
        case 0..<60: 0
        case 60..<700: Int.random(in: 1..<16 << 10, using: &random)
        case 700..<920: Int.random(in: 16 << 10..<256 << 10, using: &random)
        case 920..<990: Int.random(in: 256 << 10..<2 << 20, using: &random)
        case 990..<998: Int.random(in: 2 << 20..<10 << 20, using: &random)
        default: Int.random(in: 10 << 20...largest, using: &random)
        }
    }
}
