public import FoundationEssentials

// Coding of whole contents in memory.
extension ContentCoding {
    /// Decodes content.
    ///
    /// - Parameters:
    ///   - content: The content in this coding.
    ///   - limits: The limits. ``DecodingLimits/maximumSize`` limits the result.
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
    /// - Throws: ``CompressionError`` with ``CompressionError/Code/noEncoder`` if the coding can only be decoded.
    public func encoded(_ content: Data) throws(CompressionError) -> Data {
        let encoder = try ContentEncoder(self)
        encoder.append(content)
        encoder.finish()
        var encoded = Data()
        while let piece = try encoder.next() { encoded.append(piece) }
        return encoded
    }
}
