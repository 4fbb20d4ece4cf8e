import FoundationEssentials
import HTTPTypes
internal import LinnetMessages

/// Checks the status and the content type of a response, before its body is read.
///
/// ```swift
/// try ResponseValidation(statusCodes: 200..<300, contentTypes: ["text/*"]).validate(response)
/// ```
public struct ResponseValidation: Sendable, Hashable {
    private var statuses: AcceptedStatuses
    /// The accepted content types, as patterns (see `MIMEType.matches(_:)`); the default, nil, accepts all.
    ///
    /// Parameters are ignored. A response without a body is accepted whatever its type. One with a body and a missing
    /// or malformed Content-Type is refused, unless `*/*` is among the patterns.
    public var contentTypes: [String]?
    /// Whether the body may be empty; the default is true. If false, it may still be empty where HTTP allows no
    /// content: with 1xx, 204, 205 and 304, and in reply to HEAD (RFC 9110, section 6.4.1).
    public var acceptsEmptyBody = true
    /// The closures of ``validating(_:)``.
    var check: HeadCheck?

    /// Creates a validation.
    public init(statusCodes: Range<Int> = 200..<300, contentTypes: [String]? = nil) {
        statuses = AcceptedStatuses(statusCodes)
        self.contentTypes = contentTypes
    }

    /// Creates a validation for a set of statuses.
    public init(statusCodes: RangeSet<Int>?, contentTypes: [String]? = nil) {
        statuses = AcceptedStatuses(statusCodes)
        self.contentTypes = contentTypes
    }

    /// The accepted statuses; nil accepts all. The default is 200 to 299.
    public var statusCodes: RangeSet<Int>? {
        get { statuses.rangeSet }
        set { statuses = AcceptedStatuses(newValue) }
    }

    /// Accepts any status and any content type.
    public static let none = ResponseValidation(statusCodes: nil, contentTypes: nil)

    /// Returns if the response is acceptable.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/unacceptableStatus``,
    ///   ``SerializationError/Code/unacceptableContentType``, ``SerializationError/Code/emptyBody``, or, for a
    ///   closure's refusal, ``SerializationError/Code/unacceptableResponse``. If the status and the body are
    ///   unacceptable, the error is about the status, and the underlying error about the body.
    public func validate(_ response: SerializedResponse) throws(SerializationError) {
        let bodyError = response.body.isEmpty ? emptyBodyError(of: response) : contentTypeError(of: response)
        let status = response.head.status
        guard statuses.contains(status.code) else {
            let reason = status.reasonPhrase.isEmpty ? "" : " " + status.reasonPhrase
            throw SerializationError(
                code: .unacceptableStatus,
                message: "The server answered with status \(status.code)\(reason).",
                underlying: bodyError,
                response: response
            )
        }
        if let bodyError { throw bodyError }
        try check?.validate(response)
    }

    private func emptyBodyError(of response: SerializedResponse) -> SerializationError? {
        if acceptsEmptyBody || !response.allowsContent { return nil }
        return SerializationError(code: .emptyBody, message: "The response has no body.", response: response)
    }

    private func contentTypeError(of response: SerializedResponse) -> SerializationError? {
        guard let contentTypes else { return nil }
        let field = Self.contentType(of: response.head.headerFields)
        // The frequent cases, which need no parsing.
        if let field, contentTypes.contains(field) || Self.isPlainMatch(field, contentTypes) { return nil }
        let mediaType = field.flatMap(MIMEType.init(contentType:))
        if let mediaType, contentTypes.contains(where: mediaType.matches) { return nil }
        if contentTypes.contains("*/*") { return nil }
        return SerializationError(
            code: .unacceptableContentType,
            message: Self.message(field, wanted: contentTypes),
            response: response
        )
    }

    /// A linear search, which for the few fields of a response is faster than the index that `HTTPFields` builds.
    private static func contentType(of fields: HTTPFields) -> String? {
        var found: HTTPField?
        for field in fields where field.name == .contentType {
            if found != nil { return fields[.contentType] }
            found = field
        }
        return found?.value
    }

    /// Whether the field is exactly one of the types, followed by one unquoted parameter.
    private static func isPlainMatch(_ field: String, _ contentTypes: [String]) -> Bool {
        let bytes = field.utf8
        guard let end = bytes.firstIndex(of: UInt8(ascii: ";")) else { return false }
        let parameter = bytes[end...].dropFirst().drop { $0 == 0x20 }
        guard let mark = parameter.firstIndex(of: UInt8(ascii: "=")), mark > parameter.startIndex,
            parameter[..<mark].allSatisfy(ASCII.isToken),
            case let value = parameter[mark...].dropFirst(), !value.isEmpty, value.allSatisfy(ASCII.isToken)
        else { return false }
        let essence = field[..<end]
        return contentTypes.contains { $0 == essence }
    }

    private static func message(_ field: String?, wanted: [String]) -> String {
        let wanted = wanted.joined(separator: ", ")
        guard let field else { return "The response has no content type; accepted are \(wanted)." }
        guard let type = MIMEType(contentType: field) else {
            let shown = String(field.prefix(100)).debugDescription
            return "The Content-Type \(shown) is not a media type such as text/plain; accepted are \(wanted)."
        }
        return "The content type is \(type), which is not among those accepted: \(wanted)."
    }
}

extension ResponseValidation: Codable {
    private enum CodingKeys: String, CodingKey { case statusCodes, contentTypes, acceptsEmptyBody }

    /// Decodes a validation. Statuses are pairs of a first status and an upper bound: `[[200, 300], [404, 405]]`; null
    /// accepts all. Missing keys have the defaults.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let pairs = try container.decodeIfPresent([[Int]].self, forKey: .statusCodes)
        for pair in pairs ?? [] where pair.count != 2 || pair[0] > pair[1] {
            throw DecodingError.dataCorruptedError(
                forKey: .statusCodes,
                in: container,
                debugDescription: "Statuses are pairs of a first status and an upper bound."
            )
        }
        statuses =
            container.contains(.statusCodes)
            ? AcceptedStatuses(pairs.map { RangeSet($0.map { $0[0]..<$0[1] }) }) : AcceptedStatuses(200..<300)
        contentTypes = try container.decodeIfPresent([String].self, forKey: .contentTypes)
        acceptsEmptyBody = try container.decodeIfPresent(Bool.self, forKey: .acceptsEmptyBody) ?? true
    }

    /// Encodes the validation. One with a closure throws an `EncodingError`.
    public func encode(to encoder: any Encoder) throws {
        guard check == nil else {
            throw EncodingError.invalidValue(
                self,
                EncodingError.Context(
                    codingPath: encoder.codingPath, debugDescription: "A validation with a closure cannot be encoded."))
        }
        var container = encoder.container(keyedBy: CodingKeys.self)
        let pairs = statusCodes?.ranges.map { [$0.lowerBound, $0.upperBound] }
        try container.encode(pairs, forKey: .statusCodes)
        try container.encodeIfPresent(contentTypes, forKey: .contentTypes)
        try container.encode(acceptsEmptyBody, forKey: .acceptsEmptyBody)
    }
}

/// The accepted statuses.
///
/// A validation is created and copied for each request, which with a `RangeSet` would cost more than the rest of it.
enum AcceptedStatuses: Sendable, Hashable {
    case all
    case range(Range<Int>)
    /// Sorted and disjoint; never a single one.
    case ranges([Range<Int>])

    init(_ range: Range<Int>) {
        self = range.isEmpty ? .ranges([]) : .range(range)
    }

    init(_ set: RangeSet<Int>?) {
        guard let set else {
            self = .all
            return
        }
        let ranges = Array(set.ranges)
        self = ranges.count == 1 ? .range(ranges[0]) : .ranges(ranges)
    }

    /// Nil for all statuses.
    var rangeSet: RangeSet<Int>? {
        switch self {
        case .all: nil
        case .range(let range): RangeSet(range)
        case .ranges(let ranges): RangeSet(ranges)
        }
    }

    func contains(_ code: Int) -> Bool {
        switch self {
        case .all: true
        case .range(let range): range.contains(code)
        case .ranges(let ranges): ranges.contains { $0.contains(code) }
        }
    }
}
