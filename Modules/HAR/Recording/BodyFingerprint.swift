internal import FoundationEssentials
internal import LinnetMessages
internal import LinnetSecurity

/// The SHA-256 of a body, by which a cassette recognizes a request.
///
/// The body of a form has the digest of its redacted text, so that its secrets do not matter, and a multipart body the
/// digest with a fixed boundary, because boundaries are random. Both apply up to 1 MiB.
struct BodyFingerprint {
    private static let gatheringLimit = 1 << 20

    private enum Kind {
        case plain
        case form(Redaction)
        case multipart(boundary: String)
    }

    private let kind: Kind
    private let hasher = SHA256Hasher()
    private var gathered = Data()
    private var count = 0

    /// - Parameter contentType: The value of Content-Type.
    init(contentType: String?, _ redaction: Redaction) {
        let type = contentType.flatMap { MIMEType(contentType: $0) }
        if type?.isForm == true {
            kind = .form(redaction)
        } else if type?.type == "multipart", let boundary = type?.parameter("boundary"), !boundary.isEmpty {
            kind = .multipart(boundary: boundary)
        } else {
            kind = .plain
        }
    }

    private init(_ kind: Kind) { self.kind = kind }

    /// The fingerprint of no bytes.
    var restarted: BodyFingerprint { BodyFingerprint(kind) }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        count += bytes.count
        hasher.update(bytes)
        if case .plain = kind { return }
        gathered.append(contentsOf: bytes.prefix(max(0, Self.gatheringLimit - gathered.count)))
    }

    /// The digest in hexadecimal.
    var hexadecimal: String {
        guard count == gathered.count else { return hasher.hexadecimalDigest }
        switch kind {
        case .plain:
            return hasher.hexadecimalDigest
        case .form(let redaction):
            return Self.digest(of: Data(redaction.text(ofForm: String(decoding: gathered, as: UTF8.self)).utf8))
        case .multipart(let boundary):
            return Self.digest(of: Self.replacing(Data(boundary.utf8), in: gathered))
        }
    }

    private static func digest(of bytes: Data) -> String {
        let hasher = SHA256Hasher()
        bytes.withUnsafeBytes { hasher.update($0) }
        return hasher.hexadecimalDigest
    }

    private static func replacing(_ boundary: Data, in body: Data) -> Data {
        var (replaced, rest) = (Data(), body)
        while let range = rest.firstRange(of: boundary) {
            replaced += rest[..<range.lowerBound] + Data("boundary".utf8)
            rest = rest[range.upperBound...]
        }
        return replaced + rest
    }
}

extension MIMEType {
    /// Whether this is the type of a form that is encoded like a query.
    var isForm: Bool { essence == "application/x-www-form-urlencoded" }
}
