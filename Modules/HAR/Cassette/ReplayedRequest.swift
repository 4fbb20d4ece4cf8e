internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages
internal import LinnetTransport
internal import NIOCore

/// A request to a cassette, as it is compared with recorded ones.
struct ReplayedRequest: Sendable {
    let key: TapeKey
    /// The compared fields, redacted.
    private let fields: [HTTPField.Name: [String]]
    /// The digest of the body.
    private let fingerprint: String
    private let redaction: Redaction
    /// The number of bytes of the body.
    let bodySize: Int

    /// Reads the body to its end.
    init(
        _ request: TransportRequest, _ observer: (any TransportObserver)?, _ configuration: Cassette.Configuration
    ) async throws {
        redaction = configuration.redaction
        let head = request.head
        key = TapeKey(method: head.method.rawValue, url: configuration.redaction.text(of: head))
        fields = Self.values(of: configuration.matching.fields, in: head.headerFields, configuration.redaction)
        var body = BodyFingerprint(contentType: head.headerFields[.contentType], configuration.redaction)
        var size = 0
        switch request.body {
        case nil: break
        case .bytes(let bytes):
            bytes.withUnsafeReadableBytes { body.append($0) }
            size = bytes.readableBytes
            observer?.didSendBody(bytes: size)
        case .stream(_, _, let make):
            var reader = try make()
            while let bytes = try await reader.next() {
                bytes.withUnsafeReadableBytes { body.append($0) }
                size += bytes.readableBytes
                observer?.didSendBody(bytes: bytes.readableBytes)
            }
        }
        fingerprint = body.hexadecimal
        bodySize = size
    }

    private static func values(
        of names: Set<HTTPField.Name>, in fields: HTTPFields, _ redaction: Redaction
    ) -> [HTTPField.Name: [String]] {
        var values: [HTTPField.Name: [String]] = [:]
        for field in fields where names.contains(field.name) {
            values[field.name, default: []].append(redaction.value(of: field))
        }
        return values
    }

    /// Why a recorded request is another one, as the end of a sentence; nil if it is the same.
    func difference(from entry: TapeEntry, _ matching: Cassette.Matching) -> String? {
        guard key.method == entry.key.method else { return "its method is another" }
        guard key.url == entry.key.url else { return "its URL is another" }
        let recorded = Self.values(of: matching.fields, in: entry.fields, redaction)
        if let name = matching.fields.sorted(by: { $0.canonicalName < $1.canonicalName }).first(where: {
            fields[$0] != recorded[$0]
        }) {
            return "its field \(name.rawName) is another"
        }
        guard matching.comparesBodies else { return nil }
        guard let expected = entry.fingerprint else { return "its body was not recorded" }
        return fingerprint == expected ? nil : "its body is another"
    }

    /// How much a recorded request is like this one; 0 for not at all.
    func similarity(to entry: TapeEntry) -> Int {
        let (own, other) = (Self.parts(key.url), Self.parts(entry.key.url))
        var score = 0
        if own.path == other.path { score += 4 }
        if own.host == other.host { score += 2 }
        guard score > 0 else { return 0 }
        if key.url == entry.key.url { score += 8 }
        return key.method == entry.key.method ? score + 1 : score
    }

    private static func parts(_ url: String) -> (host: Substring, path: Substring) {
        let rest = url[(url.firstRange(of: "://")?.upperBound ?? url.startIndex)...]
        let host = rest.prefix { $0 != "/" && $0 != "?" }
        return (host, rest[host.endIndex...].prefix { $0 != "?" })
    }
}
