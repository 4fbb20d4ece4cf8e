public import FoundationEssentials
public import HTTPTypes
internal import LinnetMessages

/// A response in a cache, without its body, which the store has.
///
/// An incomplete one is stored as the 200 response that it is a part of (RFC 9111, section 3.3): its head is that of the
/// whole representation, and ``part`` says which bytes are stored.
public struct StoredResponse: Identifiable, Hashable, Sendable {
    /// Identifies an entry of a store.
    public struct ID: Hashable, Sendable {
        /// A number that the store chooses; it never stands for two entries.
        public let rawValue: UInt64

        /// Creates an identifier.
        public init(rawValue: UInt64) { self.rawValue = rawValue }
    }

    /// The place of the stored bytes in the representation.
    public struct Part: Hashable, Sendable, Codable {
        /// The place, from 0.
        public let range: Range<Int64>
        /// The number of bytes of the whole representation.
        public let total: Int64

        /// Creates a part.
        public init(range: Range<Int64>, total: Int64) {
            self.range = range
            self.total = total
        }
    }

    /// The entry. The store chooses it when the response is stored; before, its number is 0.
    public var id: ID
    /// What the response is stored under.
    public let key: CacheKey
    /// The status and the header fields as they are stored.
    public var head: HTTPResponse {
        didSet { facts = ResponseFacts(head) }
    }
    /// The header fields of the request that the response depends on.
    public var variant: Variant
    /// When the request was sent, or the last one that confirmed the response.
    public var requestTime: Date
    /// When the response was received, or the last one that confirmed it.
    public var responseTime: Date
    /// The place of the stored bytes; nil if the response is complete.
    public var part: Part?
    /// The number of stored bytes of the body. The store sets it when the response is stored.
    public var bodySize: Int64

    private(set) var facts: ResponseFacts

    /// Creates a response, for stores that read one back.
    public init(
        id: ID, key: CacheKey, head: HTTPResponse, variant: Variant, requestTime: Date, responseTime: Date,
        part: Part? = nil, bodySize: Int64
    ) {
        self.id = id
        self.key = key
        self.head = head
        facts = ResponseFacts(head)
        self.variant = variant
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.part = part
        self.bodySize = bodySize
    }

    /// The number of bytes that an entry takes: its body, and its texts with 64 bytes for each field.
    package var size: Int64 {
        let fields = head.headerFields.reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 64 }
        return bodySize + Int64(fields + variant.size + key.description.utf8.count + 256)
    }

    /// The number of bytes that the body of a response that is about to be stored will have, as far as its head says; else 0.
    package var expectedBodySize: Int64 {
        let declared = part == nil ? head.headerFields[.contentLength] : nil
        return declared.flatMap { Digits.parse($0.utf8) } ?? Int64(part?.range.count ?? 0)
    }
}
