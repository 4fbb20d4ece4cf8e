import FoundationEssentials
public import LinnetSerialization

extension MultipartForm {
    /// Adds a part for each plain value of the parameters, named and ordered as a form is (see `QueryEncoder`).
    ///
    /// Data goes in as it is, null as an empty part, all else as its text.
    ///
    /// - Throws: ``MultipartError`` with ``MultipartError/Code/invalidParameters`` when they cannot be flattened.
    public mutating func append(
        _ parameters: Parameters,
        encoder: QueryEncoder = QueryEncoder()
    ) throws(MultipartError) {
        let entries: [ParameterValue.Entry]
        do {
            entries = try encoder.flatten(parameters)
        } catch {
            throw MultipartError(code: .invalidParameters, message: error.message, underlying: error)
        }
        for entry in entries {
            if case .data(let data) = entry.value {
                append(data, name: entry.key)
            } else {
                append(Data(encoder.text(of: entry.value).utf8), name: entry.key)
            }
        }
    }

    /// Adds a part for each plain value of any `Encodable` value, flattened by the same rules.
    ///
    /// ```swift
    /// try form.append(encoding: Post(title: "Linnet", tags: ["bird", "small"]))  // title, tags[], tags[]
    /// ```
    /// - Parameters:
    ///   - value: What is encoded. At its top it has names.
    ///   - parameterEncoder: What dates, data and names of properties become.
    ///   - encoder: How names are joined, and truth values and null are written.
    /// - Throws: ``MultipartError`` with ``MultipartError/Code/invalidParameters`` when it cannot be encoded or flattened.
    public mutating func append(
        encoding value: some Encodable,
        parameterEncoder: ParameterEncoder = ParameterEncoder(),
        encoder: QueryEncoder = QueryEncoder()
    ) throws(MultipartError) {
        let parameters: Parameters
        do {
            parameters = try parameterEncoder.encode(value)
        } catch {
            throw MultipartError(code: .invalidParameters, message: error.message, underlying: error)
        }
        try append(parameters, encoder: encoder)
    }
}
