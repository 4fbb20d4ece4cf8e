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

    /// Returns nil if the row is damaged.
    init?(_ row: Row) {
        guard let body = IndexedBody(row), let columns = SealedColumns(row, of: body),
            columns.seal == row.value(8, as: Data.self),
            let variant = VariantCoding.decode(columns.variant), let head = HeadCoding.decode(columns.head)
        else { return nil }
        self.body = body
        response = StoredResponse(
            id: body.id, key: CacheKey(description: columns.key), head: head, variant: variant,
            requestTime: Date(timeIntervalSinceReferenceDate: columns.requestTime),
            responseTime: Date(timeIntervalSinceReferenceDate: columns.responseTime), part: columns.part,
            bodySize: body.size)
    }
}

/// The columns that the seal of an entry covers: the whole response except for the digest, which is compared with the
/// body.
struct SealedColumns: Sendable {
    let id: StoredResponse.ID
    let key: String
    let variant: Data
    let head: Data
    let requestTime: Double
    let responseTime: Double
    let bodySize: Int64
    let part: StoredResponse.Part?

    init(_ response: StoredResponse) throws {
        id = response.id
        key = response.key.description
        variant = try VariantCoding.encode(response.variant)
        head = HeadCoding.encode(response.head)
        requestTime = response.requestTime.timeIntervalSinceReferenceDate
        responseTime = response.responseTime.timeIntervalSinceReferenceDate
        bodySize = response.bodySize
        part = response.part
    }

    /// Returns nil if the row is damaged.
    fileprivate init?(_ row: Row, of body: IndexedBody) {
        guard let key = row.value(3, as: String.self), let variant = row.value(4, as: Data.self),
            let head = row.value(5, as: Data.self), let requestTime = row.value(6, as: Double.self),
            let responseTime = row.value(7, as: Double.self)
        else { return nil }
        switch (row.value(9, as: Int64.self), row.value(10, as: Int64.self), row.value(11, as: Int64.self)) {
        case (nil, nil, nil):
            part = nil
        case (let start?, let end?, let total?):
            guard 0 <= start, start <= end, end <= total, end - start == body.size else { return nil }
            part = StoredResponse.Part(range: start..<end, total: total)
        default:
            // The row has only some of the three numbers of a part.
            return nil
        }
        id = body.id
        self.key = key
        self.variant = variant
        self.head = head
        self.requestTime = requestTime
        self.responseTime = responseTime
        bodySize = body.size
    }

    /// A digest of the columns, because SQLite does not notice changed bytes in its file.
    var seal: Data {
        let hasher = SHA256Hasher()
        var numbers = [id.rawValue, requestTime.bitPattern, responseTime.bitPattern, UInt64(bitPattern: bodySize)]
        // The count comes first, so that no two rows have the same bytes.
        let place: [Int64] = part.map { [3, $0.range.lowerBound, $0.range.upperBound, $0.total] } ?? [0]
        numbers += place.map { UInt64(bitPattern: $0) }
        for number in numbers {
            withUnsafeBytes(of: number.littleEndian) { hasher.update($0) }
        }
        for bytes in [Data(key.utf8), variant, head] {
            withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { hasher.update($0) }
            bytes.withUnsafeBytes { hasher.update($0) }
        }
        return Data(hasher.digest)
    }
}

/// The size and the digest of a body, according to the index.
struct IndexedBody: Sendable {
    let id: StoredResponse.ID
    let size: Int64
    let digest: Data

    /// The limit of a size. No file is larger, and sums of several sizes do not overflow.
    private static let largest = Int64.max / 16

    /// The columns that ``init(_:)`` reads, in their order.
    static let columns = "id, bodySize, digest"

    /// Returns nil if the row is damaged.
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
    /// The value of a column; nil if it has another type. GRDB's own conversions stop the program for that.
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
    /// The identifier as a key of the index.
    var key: Int64 { Int64(truncatingIfNeeded: rawValue) }
}
