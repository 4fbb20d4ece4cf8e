import Foundation
import HTTPTypes
import LinnetTesting
import Synchronization

extension HTTPField.Name {
    /// The number of the request.
    static let number = HTTPField.Name("X-Number") ?? .ifMatch
    /// The fault of the request.
    static let fault = HTTPField.Name("X-Fault") ?? .ifMatch
    /// The size of the body, if the URL has none.
    static let size = HTTPField.Name("X-Size") ?? .ifMatch
}

/// Answers the requests, and notes them in the ledger: `B` when one begins, `T` when its body was taken, `A` when it is
/// answered, each with the number and with the hop of a redirect.
final class Responder: Sendable {
    private let ledger: Ledger
    /// The numbers whose faults have occurred: they do so once, so that a retry succeeds.
    private let spent = Mutex<Set<UInt64>>([])

    init(_ ledger: Ledger) { self.ledger = ledger }

    // MARK: Faults

    @Sendable func faults(_ request: RecordedRequest) -> [MockServer.Fault] {
        guard let planned = planned(request), let effect = planned.effect.fault, spend(request) else { return [] }
        let trigger: MockServer.Fault.Trigger =
            switch planned.point {
            case .requestHead: .requestHead
            case .requestBody: .requestBody(after: planned.bytes)
            case .responseHead: .responseHead
            case .responseBody: .responseBody(after: planned.bytes)
            case .responseEnd: .responseEnd
            }
        return [.init(effect, at: trigger)]
    }

    private func planned(_ request: RecordedRequest) -> PlannedFault? {
        request.headerFields[.fault].flatMap { PlannedFault(field: $0) }
    }

    private func spend(_ request: RecordedRequest) -> Bool {
        spent.withLock { $0.insert(number(request)).inserted }
    }

    private func number(_ request: RecordedRequest) -> UInt64 {
        request.headerFields[.number].flatMap { UInt64($0) } ?? .max
    }

    // MARK: Responses

    @Sendable func respond(_ request: RecordedRequest) async -> MockResponse {
        let number = number(request)
        let target = Target(request)
        ledger.note("B \(number) \(target.hop) \(request.method)")
        if let fault = planned(request), fault.effect == .unavailable, spend(request) {
            ledger.note("A \(number) \(target.hop) 503")
            return .status(.serviceUnavailable)
        }
        let response: MockResponse
        do {
            response = try await answer(request, target, number)
        } catch {
            // The client has gone.
            return MockResponse(status: .badRequest, closesConnection: true)
        }
        ledger.note("A \(number) \(target.hop) \(response.status.code)")
        return response
    }

    private func answer(
        _ request: RecordedRequest, _ target: Target, _ number: UInt64
    ) async throws -> MockResponse {
        switch target.kind {
        case "cached": return cached(request, target)
        case "cookie":
            let received = request.headerFields[values: .cookie].joined(separator: "; ")
            return MockResponse(
                headerFields: [.setCookie: "c=\(number); Path=/\(target.kind)/\(target.argument)"],
                body: .text(received.isEmpty ? "-" : received))
        case "hop":
            if request.method == .post { try await take(request, number, target.hop) }
            let next = target.hop > 1 ? "/hop/\(target.hop - 1)?\(request.query ?? "")" : target.destination
            return .redirect(to: next, status: .init(code: target.status))
        case "upload":
            let (digest, count) = try await take(request, number, target.hop)
            return .text("\(digest) \(count) \(request.method)")
        case "slow":
            let content = Content(seed: number, size: target.size)
            return MockResponse(body: .bytes(content.whole)).delayed(by: .milliseconds(target.wait))
        default: return file(request, Content(seed: number, size: target.size), target)
        }
    }

    @discardableResult
    private func take(_ request: RecordedRequest, _ number: UInt64, _ hop: Int) async throws -> (String, Int) {
        let digest = Digest()
        for try await chunk in request.chunks { digest.add(chunk) }
        let count = digest.count
        ledger.note("T \(number) \(hop) \(count)")
        return (digest.finish(), count)
    }

    /// A representation that changes every few seconds.
    private func cached(_ request: RecordedRequest, _ target: Target) -> MockResponse {
        let version = Int(Date().timeIntervalSince1970) / Version.seconds
        let tag = Version(key: Int(target.argument) ?? 0, version: version)
        let fields: HTTPFields = [.eTag: tag.entityTag, .cacheControl: "max-age=\(Version.freshness)"]
        if request.headerFields[.ifNoneMatch] == tag.entityTag {
            return MockResponse(status: .notModified, headerFields: fields)
        }
        return MockResponse(headerFields: fields, body: .bytes(tag.content.whole))
    }

    /// A file with ranges (RFC 9110, 14).
    private func file(_ request: RecordedRequest, _ content: Content, _ target: Target) -> MockResponse {
        var fields: HTTPFields = [.eTag: "\"\(content.seed)-\(content.size)\"", .acceptRanges: "bytes"]
        var start = 0
        if let range = request.headerFields[.range], range.hasPrefix("bytes="),
            let first = Int(range.dropFirst(6).prefix { $0.isNumber }), first < content.size,
            request.headerFields[.ifRange].map({ $0 == fields[.eTag] }) ?? true
        {
            start = first
            fields[.contentRange] = "bytes \(first)-\(content.size - 1)/\(content.size)"
        }
        let pieces = ContentPieces(content: content, offset: start)
        let body: MockResponse.Body =
            content.size - start <= Content.piece
            ? .bytes(content.bytes(start..<content.size))
            : .stream(pieces, length: target.isChunked ? nil : content.size - start)
        var response = MockResponse(
            status: fields[.contentRange] == nil ? .ok : .partialContent, headerFields: fields, body: body)
        if target.wait > 0 { response.throttle = .init(bytes: 64 << 10, pause: .milliseconds(target.wait)) }
        return response
    }
}

extension PlannedFault.Effect {
    /// The effect of the server; nil for one that its handler has.
    var fault: MockServer.Fault.Effect? {
        switch self {
        case .close: .close
        case .reset: .reset
        case .halfClose: .halfClose
        case .truncate: .truncate
        case .garbage: .garbage
        case .stall: .stall
        case .resetStream: .resetStream()
        case .goAway: .goAway()
        case .late: .delay(.milliseconds(100))
        case .unavailable: nil
        }
    }
}

/// The path and the query of a request: `/KIND/ARGUMENT?size=…`.
struct Target {
    let kind: String
    let argument: String
    let size: Int
    private var query: [Substring: Substring] = [:]

    init(_ request: RecordedRequest) {
        let words = request.path.split(separator: "/").map(String.init)
        kind = words.first ?? ""
        argument = words.count > 1 ? words[1] : ""
        for pair in (request.query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { query[parts[0]] = parts[1] }
        }
        size = (request.headerFields[.size] ?? query["size"].map(String.init)).flatMap { Int($0) } ?? 0
    }

    private func value(_ name: Substring) -> Int { query[name].flatMap { Int($0) } ?? 0 }

    var wait: Int { value("wait") }
    var status: Int { value("status") }
    var isChunked: Bool { value("chunked") == 1 }
    /// The redirects that are left; 0 at the destination.
    var hop: Int { kind == "hop" ? Int(argument) ?? 1 : 0 }
    /// The end of the redirects.
    var destination: String { "/\(query["to"] ?? "file")/0" + (query["size"].map { "?size=\($0)" } ?? "") }
}

/// A version of a representation that caches store.
struct Version: Equatable {
    /// How long a version lives.
    static let seconds = 5
    /// Its max-age.
    static let freshness = 3
    static let keys = 8

    let key: Int
    let version: Int

    init(key: Int, version: Int) { (self.key, self.version) = (key, version) }

    init?(entityTag: String) {
        let numbers = entityTag.split(separator: "\"").joined().split(separator: "-").compactMap { Int($0) }
        guard numbers.count == 2 else { return nil }
        self.init(key: numbers[0], version: numbers[1])
    }

    var entityTag: String { "\"\(key)-\(version)\"" }
    var content: Content {
        Content(seed: UInt64(key) << 40 | UInt64(version), size: (key * 3797 + version % 7 * 101) % (32 << 10))
    }
}

/// A content in pieces.
struct ContentPieces: AsyncSequence, Sendable {
    typealias Element = Data

    let content: Content
    let offset: Int

    func makeAsyncIterator() -> Iterator { Iterator(content: content, offset: offset) }

    struct Iterator: AsyncIteratorProtocol {
        let content: Content
        var offset: Int

        mutating func next() async -> Data? {
            let piece = content.piece(at: offset)
            offset += piece?.count ?? 0
            return piece
        }
    }
}
