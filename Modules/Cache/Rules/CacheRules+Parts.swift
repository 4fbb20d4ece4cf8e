package import HTTPTypes

/// Parts of one representation as a single stored response (RFC 9111, section 3.4; RFC 9110, section 15.3.7.3).
package struct CombinedResponse: Hashable, Sendable {
    /// A piece of the combined body, as a range of the bytes of its source.
    package enum Piece: Hashable, Sendable {
        /// Bytes that are stored.
        case stored(Range<Int64>)
        /// Bytes of the new response.
        case received(Range<Int64>)
    }

    /// The entry of the combined response, which replaces the stored one.
    package let entry: StoredResponse
    /// The pieces of its body, in order.
    package let pieces: [Piece]

    /// Whether at most 16 stored bytes are copied for each received one.
    ///
    /// Parts are combined by copying. Without this limit, reading a representation in small ranges would copy it once
    /// for each range; with the limit, the store writes at most 17 bytes for each received one.
    package var isProportionate: Bool {
        var (copied, received): (Int64, Int64) = (0, 0)
        for piece in pieces {
            switch piece {
            case .stored(let range): copied += Int64(range.count)
            case .received(let range): received += Int64(range.count)
            }
        }
        // This cannot overflow: no length exceeds `Digits.limit`, a sixteenth of the greatest number.
        return copied <= 16 * received
    }

    /// Returns a stored response with the fields of the new one, for a store that keeps the stored bytes.
    package func updating(_ stored: StoredResponse) -> StoredResponse {
        var updated = stored
        updated.head = entry.head
        updated.requestTime = entry.requestTime
        updated.responseTime = entry.responseTime
        return updated
    }
}

extension CacheRules {
    /// Combines a new 206 response with a stored response.
    ///
    /// - Parameters:
    ///   - entry: The entry of the new response, from `entry(for:to:key:requestTime:responseTime:)`.
    ///   - response: The new response.
    ///   - stored: A stored response of the same key that the request matches.
    /// - Returns: The combined response; nil if the two share no strong validator, if bytes between them are missing,
    ///   or if the head would have too many fields.
    package func combination(
        of entry: StoredResponse, _ response: HTTPResponse, with stored: StoredResponse
    ) -> CombinedResponse? {
        guard let new = entry.part, stored.head.status == .ok, stored.totalSize == new.total,
            entry.facts.validators.haveSameStrong(as: stored.facts.validators), entry.variant == stored.variant
        else { return nil }
        let held = stored.storedRange
        // Parts that only touch are combined, too; between others, bytes are missing.
        guard new.range.lowerBound <= held.upperBound, held.lowerBound <= new.range.upperBound,
            var head = updatedHead(stored.head, with: response, receivedAt: entry.responseTime)
        else { return nil }
        let union = min(held.lowerBound, new.range.lowerBound)..<max(held.upperBound, new.range.upperBound)
        var pieces: [CombinedResponse.Piece] = []
        if held.lowerBound < new.range.lowerBound {
            pieces.append(.stored(0..<new.range.lowerBound - held.lowerBound))
        }
        pieces.append(.received(0..<Int64(new.range.count)))
        if new.range.upperBound < held.upperBound {
            pieces.append(.stored(new.range.upperBound - held.lowerBound..<Int64(held.count)))
        }
        var combined = entry
        head.headerFields[.contentLength] = String(new.total)
        combined.head = head
        combined.part = union == 0..<new.total ? nil : StoredResponse.Part(range: union, total: new.total)
        return CombinedResponse(entry: combined, pieces: pieces)
    }
}
