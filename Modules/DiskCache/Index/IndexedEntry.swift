internal import FoundationEssentials
internal import GRDB
internal import LinnetCache
internal import LinnetSecurity

/// A row of the index.
struct IndexedEntry: Sendable {
    let response: StoredResponse
    let body: IndexedBody

    /// The columns that ``init(_:)`` reads, in their order.
    static let columns =
        "id, bodySize, digest, key, variant, head, requestTime, responseTime, seal, partStart, partEnd, partTotal"

    /// Nil if the row is damaged.
    init?(_ row: Row) {
        guard let body = IndexedBody(row), let head = EncodedHead(row, of: body.id),
            head.seal == row.value(8, as: Data.self),
            let variant = VariantCoding.decode(head.variant), let message = HeadCoding.decode(head.head)
        else { return nil }
        var part: StoredResponse.Part?
        if let start = row.value(9, as: Int64.self) {
            guard let end = row.value(10, as: Int64.self), let total = row.value(11, as: Int64.self),
                0 <= start, start <= end, end <= total, end - start == body.size
            else { return nil }
            part = StoredResponse.Part(range: start..<end, total: total)
        }
        self.body = body
        response = StoredResponse(
            id: body.id, key: CacheKey(description: head.key), head: message, variant: variant,
            requestTime: Date(timeIntervalSinceReferenceDate: head.requestTime),
            responseTime: Date(timeIntervalSinceReferenceDate: head.responseTime), part: part, bodySize: body.size)
    }
}

/// The columns of an entry that do not depend on its body.
struct EncodedHead: Sendable {
    let id: StoredResponse.ID
    let key: String
    let variant: Data
    let head: Data
    let requestTime: Double
    let responseTime: Double

    init(_ response: StoredResponse) throws {
        id = response.id
        key = response.key.description
        variant = try VariantCoding.encode(response.variant)
        head = HeadCoding.encode(response.head)
        requestTime = response.requestTime.timeIntervalSinceReferenceDate
        responseTime = response.responseTime.timeIntervalSinceReferenceDate
    }

    /// Nil if the row is damaged.
    fileprivate init?(_ row: Row, of id: StoredResponse.ID) {
        guard let key = row.value(3, as: String.self), let variant = row.value(4, as: Data.self),
            let head = row.value(5, as: Data.self), let requestTime = row.value(6, as: Double.self),
            let responseTime = row.value(7, as: Double.self)
        else { return nil }
        self.id = id
        self.key = key
        self.variant = variant
        self.head = head
        self.requestTime = requestTime
        self.responseTime = responseTime
    }

    /// A digest of the other columns. SQLite does not notice bytes that have changed in its file.
    var seal: Data {
        let hasher = SHA256Hasher()
        for number in [id.rawValue, requestTime.bitPattern, responseTime.bitPattern] {
            withUnsafeBytes(of: number.littleEndian) { hasher.update($0) }
        }
        for bytes in [Data(key.utf8), variant, head] {
            withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { hasher.update($0) }
            bytes.withUnsafeBytes { hasher.update($0) }
        }
        return Data(hasher.digest)
    }
}

/// What the index says of the body of an entry.
struct IndexedBody: Sendable {
    let id: StoredResponse.ID
    let size: Int64
    let digest: Data

    /// No file is larger, and sums of some sizes are numbers.
    private static let largest = Int64.max / 16

    /// The columns that ``init(_:)`` reads, in their order.
    static let columns = "id, bodySize, digest"

    /// Nil if the row is damaged.
    init?(_ row: Row) {
        guard let id = row.identifier, let size = row.value(1, as: Int64.self), 0...Self.largest ~= size,
            let digest = row.value(2, as: Data.self)
        else { return nil }
        self.id = id
        self.size = size
        self.digest = digest
    }
}

extension Row {
    /// The value of a column; nil if it has another type, which GRDB's own conversions take for an error of the program.
    func value<Value: DatabaseValueConvertible>(_ index: Int, as type: Value.Type) -> Value? {
        let value: DatabaseValue = self[index]
        return Value.fromDatabaseValue(value)
    }

    /// The identifier in the first column.
    var identifier: StoredResponse.ID? {
        value(0, as: Int64.self).flatMap { UInt64(exactly: $0) }.map(StoredResponse.ID.init(rawValue:))
    }
}

extension StoredResponse.ID {
    /// As a key of the index.
    var key: Int64 { Int64(truncatingIfNeeded: rawValue) }
}
