internal import LinnetMessages

extension ContentCoding {
    /// Returns the codings in a Content-Encoding field, in the order of their application (RFC 9110, section 8.4).
    ///
    /// `identity` and empty elements are skipped. Names are case-insensitive.
    ///
    /// - Parameters:
    ///   - contentEncoding: The value of the field; several fields are joined with commas.
    ///   - known: The supported codings.
    /// - Throws: ``CompressionError/Code/unknownCoding``.
    public static func codings(
        in contentEncoding: String, among known: [ContentCoding]
    ) throws(CompressionError) -> [ContentCoding] {
        var codings: [ContentCoding] = []
        for element in Array(contentEncoding.utf8).split(separator: UInt8(ascii: ",")) {
            let name = String(decoding: element.filter { !ASCII.isBlank($0) }.map(ASCII.lowercase), as: UTF8.self)
            guard !name.isEmpty, name != "identity" else { continue }
            guard let coding = known.first(where: { $0.name == name || $0.aliases.contains(name) }) else {
                throw CompressionError(
                    code: .unknownCoding, message: "The content coding \(name.prefix(40).debugDescription) is unknown.")
            }
            codings.append(coding)
        }
        return codings
    }

    /// Returns the value of an Accept-Encoding field with these codings in order of preference, without repetition (RFC
    /// 9110, section 12.5.3); nil if there are none.
    public static func acceptEncoding(_ codings: [ContentCoding]) -> String? {
        var names: [String] = []
        for coding in codings where !names.contains(coding.name) { names.append(coding.name) }
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }
}
