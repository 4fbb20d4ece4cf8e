internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages

/// The properties of a stored head that the rules need, parsed once.
///
/// They follow from the head, so two stored responses with equal heads are equal.
final class ResponseFacts: Hashable, Sendable {
    enum Expiration {
        case at(Date)
        /// A value that is not a date, which counts as a past date (RFC 9111, section 5.3).
        case invalid
    }

    /// Whether the status is 200.
    let isOK: Bool
    let directives: CacheDirectives
    let validators: Validators
    /// Date; nil if it is missing or invalid.
    let date: Date?
    /// The first element of Age, in seconds; 0 if it is missing or invalid (section 5.1).
    let age: Double
    /// The first Expires; nil if there is none.
    let expiration: Expiration?
    /// Whether the response may be fresh without an explicit lifetime (section 4.2.2).
    let allowsHeuristics: Bool

    init(_ head: HTTPResponse) {
        let fields = head.headerFields
        isOK = head.status == .ok
        directives = CacheDirectives(response: fields)
        validators = Validators(head)
        date = validators.date?.date
        age = Self.age(fields)
        expiration = fields[values: .expires].first.map { value in
            HTTPDate(caseInsensitive: value).map { .at($0.date) } ?? .invalid
        }
        allowsHeuristics = head.status.isHeuristicallyCacheable || directives.isPublic
    }

    private static func age(_ fields: HTTPFields) -> Double {
        guard let value = fields[values: .age].first,
            let first = value.utf8.split(separator: UInt8(ascii: ","), maxSplits: 1).first
        else { return 0 }
        return DeltaSeconds.parse(Array(first)[...].trimmed).map(Double.init) ?? 0
    }

    static func == (left: ResponseFacts, right: ResponseFacts) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}
