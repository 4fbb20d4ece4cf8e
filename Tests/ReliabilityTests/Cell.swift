import LinnetTesting
import Testing

/// One cell of the grid: a fault, and the exchange that meets it.
struct Cell: Sendable, Hashable {
    /// The point of the fault.
    enum Trigger: String, CaseIterable, Sendable {
        case accept, hello, requestHead, requestBody, responseHead, responseBody, responseEnd, idle

        /// Bodies have ``Exchange/size`` bytes; their faults occur at the quarter.
        var ofServer: MockServer.Fault.Trigger {
            switch self {
            case .accept: .connect
            case .hello: .clientHello
            case .requestHead: .requestHead
            case .requestBody: .requestBody(after: Exchange.size / 4)
            case .responseHead: .responseHead
            case .responseBody: .responseBody(after: Exchange.size / 4)
            case .responseEnd: .responseBody(after: .max)
            case .idle: .responseEnd
            }
        }
    }

    /// The effect of the fault.
    enum Effect: String, CaseIterable, Sendable {
        case close, reset, halfClose, truncate, garbage, stall, goAway, resetStream, slow

        var ofServer: MockServer.Fault.Effect {
            switch self {
            case .close: .close
            case .reset: .reset
            case .halfClose: .halfClose
            case .truncate: .truncate
            case .garbage: .garbage
            case .stall: .stall
            case .goAway: .goAway()
            case .resetStream: .resetStream()
            case .slow: .delay(.milliseconds(20))
            }
        }
    }

    enum Version: String, CaseIterable, Sendable { case http1, http2 }

    enum Route: String, CaseIterable, Sendable { case plain, tls, proxy }

    enum Kind: String, CaseIterable, Sendable { case data, stream, upload, download, webSocket, background }

    let trigger: Trigger
    let effect: Effect
    let version: Version
    let route: Route
    let kind: Kind
    /// Whether the session retries idempotent requests once. Background sessions always do.
    let retries: Bool

    /// Whether a fault of this kind can occur.
    private var exists: Bool {
        let isOfStreams = effect == .goAway || effect == .resetStream
        // The frames of a stream are after the connection's setup.
        if isOfStreams && (version == .http1 || trigger == .accept || trigger == .hello) { return false }
        // Only uploads have a body.
        if trigger == .requestBody && kind != .upload { return false }
        // LinnetWebSocket uses HTTP/1.1 and retries nothing.
        if kind == .webSocket { return version == .http1 && !retries }
        return kind != .background || retries
    }

    /// All cells of a fault.
    static func all(_ trigger: Trigger, _ effect: Effect) -> [Cell] {
        Version.allCases.flatMap { version in
            Route.allCases.flatMap { route in
                Kind.allCases.flatMap { kind in
                    [false, true].map {
                        Cell(
                            trigger: trigger, effect: effect, version: version, route: route, kind: kind, retries: $0)
                    }
                }
            }
        }.filter(\.exists)
    }
}

extension Cell: CustomTestStringConvertible {
    var testDescription: String {
        "\(effect.rawValue) at \(trigger.rawValue): \(kind.rawValue) over \(version.rawValue), \(route.rawValue)"
            + (retries ? ", with a retry" : "")
    }
}
