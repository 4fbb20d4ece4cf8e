import FoundationEssentials
import HTTPTypes

/// Judges a response's status and content type, before its body is read.
///
/// ```swift
/// try ResponseValidation(statusCodes: 200..<300, contentTypes: ["text/*"]).validate(response)
/// ```
public struct ResponseValidation: Sendable, Hashable {
    private var statuses: AcceptedStatuses
    /// The content types that are accepted, as patterns (see ``MediaType/matches(_:)``); nil accepts all, which is the
    /// default.
    ///
    /// Type and subtype decide; a malformed parameter does no harm. A response without a body passes whatever its type. One
    /// with a body and no Content-Type, or one that is no media type, is refused, unless `*/*` is among the patterns.
    public var contentTypes: [String]?
    /// Whether the body may be empty; the default is true. If false, it may still be empty where HTTP allows no content:
    /// with 1xx, 204, 205 and 304, and in reply to HEAD (RFC 9110, section 6.4.1).
    public var acceptsEmptyBody = true

    /// Creates a validation.
    public init(statusCodes: Range<Int> = 200..<300, contentTypes: [String]? = nil) {
        statuses = AcceptedStatuses(statusCodes)
        self.contentTypes = contentTypes
    }

    /// Creates a validation that accepts a set of statuses.
    public init(statusCodes: RangeSet<Int>?, contentTypes: [String]? = nil) {
        statuses = AcceptedStatuses(statusCodes)
        self.contentTypes = contentTypes
    }

    /// The statuses that are accepted; nil accepts all. The default is 200 to 299.
    public var statusCodes: RangeSet<Int>? {
        get { statuses.rangeSet }
        set { statuses = AcceptedStatuses(newValue) }
    }

    /// Accepts any status and any content type.
    public static let none = ResponseValidation(statusCodes: nil, contentTypes: nil)

    /// Does nothing if the response is acceptable.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/unacceptableStatus``,
    ///   ``SerializationError/Code/unacceptableContentType`` or ``SerializationError/Code/emptyBody``. If the status and
    ///   another are wrong, the status is the error and the other underlies it.
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
    }

    private func emptyBodyError(of response: SerializedResponse) -> SerializationError? {
        if acceptsEmptyBody || !response.allowsContent { return nil }
        return SerializationError(code: .emptyBody, message: "The response has no body.", response: response)
    }

    private func contentTypeError(of response: SerializedResponse) -> SerializationError? {
        guard let contentTypes else { return nil }
        let field = Self.contentType(of: response.head.headerFields)
        // The usual cases, for which nothing has to be taken apart.
        if let field, contentTypes.contains(field) || Self.isPlainMatch(field, contentTypes) { return nil }
        let mediaType = field.flatMap(MediaType.init(contentType:))
        if let mediaType, contentTypes.contains(where: mediaType.matches) { return nil }
        if contentTypes.contains("*/*") { return nil }
        return SerializationError(
            code: .unacceptableContentType,
            message: Self.message(field, wanted: contentTypes),
            response: response
        )
    }

    /// Looks at one field after the other, which for the few that a response has is much faster than the index that
    /// `HTTPFields` makes to find one.
    private static func contentType(of fields: HTTPFields) -> String? {
        var found: HTTPField?
        for field in fields where field.name == .contentType {
            if found != nil { return fields[.contentType] }
            found = field
        }
        return found?.value
    }

    /// Whether the field is one of the types, written as it is, with one parameter that has no quotes.
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
        guard let type = MediaType(contentType: field) else {
            let shown = String(field.prefix(100)).debugDescription
            return "The Content-Type \(shown) is not a media type such as text/plain; accepted are \(wanted)."
        }
        return "The content type is \(type), which is not among those accepted: \(wanted)."
    }
}

extension ResponseValidation: Codable {
    private enum CodingKeys: String, CodingKey { case statusCodes, contentTypes, acceptsEmptyBody }

    /// Reads a validation. Statuses are pairs of a first status and the one after the last: `[[200, 300], [404, 405]]`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let pairs = try container.decodeIfPresent([[Int]].self, forKey: .statusCodes)
        for pair in pairs ?? [] where pair.count != 2 || pair[0] > pair[1] {
            throw DecodingError.dataCorruptedError(
                forKey: .statusCodes,
                in: container,
                debugDescription: "Statuses are pairs of a first one and the one after the last."
            )
        }
        statuses = AcceptedStatuses(pairs.map { RangeSet($0.map { $0[0]..<$0[1] }) })
        contentTypes = try container.decodeIfPresent([String].self, forKey: .contentTypes)
        acceptsEmptyBody = try container.decodeIfPresent(Bool.self, forKey: .acceptsEmptyBody) ?? true
    }

    /// Writes the validation.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        let pairs = statusCodes?.ranges.map { [$0.lowerBound, $0.upperBound] }
        try container.encodeIfPresent(pairs, forKey: .statusCodes)
        try container.encodeIfPresent(contentTypes, forKey: .contentTypes)
        try container.encode(acceptsEmptyBody, forKey: .acceptsEmptyBody)
    }
}

/// The statuses that a validation accepts.
///
/// A validation is made and copied for each request, and a `RangeSet` costs more at either than all else it does.
enum AcceptedStatuses: Sendable, Hashable {
    case all
    case range(Range<Int>)
    /// In order and apart from each other; never one alone.
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

    /// Nil for all.
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
