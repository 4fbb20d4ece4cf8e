public import FoundationEssentials

// For content that is in memory as a whole.
extension ContentCoding {
    /// Decodes content.
    ///
    /// - Parameters:
    ///   - content: The content in this coding.
    ///   - limits: The limits; ``DecodingLimits/maximumSize`` bounds the result.
    /// - Throws: ``CompressionError``.
    public func decoded(
        _ content: Data, limits: DecodingLimits = DecodingLimits()
    ) throws(CompressionError) -> Data {
        let decoder = try ContentDecoder([self], limits: limits)
        decoder.append(content)
        var decoded = Data()
        while let piece = try decoder.next() { decoded.append(piece) }
        try decoder.finish()
        return decoded
    }

    /// Encodes content.
    ///
    /// - Throws: ``CompressionError`` with ``CompressionError/Code/noEncoder`` if the coding can be decoded only.
    public func encoded(_ content: Data) throws(CompressionError) -> Data {
        let encoder = try ContentEncoder(self)
        encoder.append(content)
        encoder.finish()
        var encoded = Data()
        while let piece = try encoder.next() { encoded.append(piece) }
        return encoded
    }
}
