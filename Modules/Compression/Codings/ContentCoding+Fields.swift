internal import LinnetMessages

extension ContentCoding {
    /// The codings that a Content-Encoding field names, in the order in which they were applied (RFC 9110, section 8.4).
    ///
    /// `identity` and empty elements mean nothing and are left out. Names are compared without case.
    ///
    /// - Parameters:
    ///   - contentEncoding: The value of the field; several fields are joined with commas.
    ///   - known: The codings that the names can mean.
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

    /// The value of an Accept-Encoding field that names these codings in order of preference, each once (RFC 9110, section
    /// 12.5.3); nil if there are none.
    public static func acceptEncoding(_ codings: [ContentCoding]) -> String? {
        var names: [String] = []
        for coding in codings where !names.contains(coding.name) { names.append(coding.name) }
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }
}
