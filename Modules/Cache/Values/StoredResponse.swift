public import FoundationEssentials
public import HTTPTypes
internal import LinnetMessages

/// A response in a cache. The store has its body.
///
/// An incomplete response is stored as a 200 response (RFC 9111, section 3.3): the head describes the whole
/// representation, and ``part`` tells which bytes are stored.
public struct StoredResponse: Identifiable, Hashable, Sendable {
    /// Identifies an entry of a store.
    public struct ID: Hashable, Sendable {
        /// A number chosen by the store, which never identifies two entries.
        public let rawValue: UInt64

        /// Creates an identifier.
        public init(rawValue: UInt64) { self.rawValue = rawValue }
    }

    /// The place of the stored bytes in the representation.
    public struct Part: Hashable, Sendable, Codable {
        /// The range of the stored bytes; the first byte of the representation is 0.
        public let range: Range<Int64>
        /// The number of bytes of the whole representation.
        public let total: Int64

        /// Creates a part.
        public init(range: Range<Int64>, total: Int64) {
            self.range = range
            self.total = total
        }
    }

    /// The identifier. The store chooses it when the response is stored; until then its number is 0.
    public var id: ID
    /// The key of the response.
    public let key: CacheKey
    /// The stored status and header fields.
    public var head: HTTPResponse {
        didSet { facts = ResponseFacts(head) }
    }
    /// The header fields of the request that the response depends on.
    public var variant: Variant
    /// The time at which the last request was sent that produced or confirmed the response.
    public var requestTime: Date
    /// The time at which the response, or its last confirmation, was received.
    public var responseTime: Date
    /// The place of the stored bytes; nil if the response is complete.
    public var part: Part?
    /// The number of stored bytes of the body. The store sets it when the response is stored.
    public var bodySize: Int64

    private(set) var facts: ResponseFacts

    /// Creates a response, for stores that restore one.
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

    /// The size of an entry in bytes: its body, its texts, and 64 bytes for each field.
    package var size: Int64 {
        let fields = head.headerFields.reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 64 }
        return bodySize + Int64(fields + variant.size + key.description.utf8.count + 256)
    }

    /// The size of the body that is about to be stored, according to the head; 0 if it does not say.
    package var expectedBodySize: Int64 {
        let declared = part == nil ? head.headerFields[.contentLength] : nil
        return declared.flatMap { Digits.parse($0.utf8) } ?? Int64(part?.range.count ?? 0)
    }
}
