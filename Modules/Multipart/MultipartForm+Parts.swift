public import FoundationEssentials
public import HTTPTypes
public import LinnetSerialization

extension MultipartForm {
    /// Adds a part without a file name and a content type, as a form's text field is sent.
    public mutating func append(_ data: Data, name: String) {
        append(MultipartPart(name: name, fileName: nil, contentType: nil, content: .data(data)))
    }

    /// Adds a part in memory that is a file to the server.
    ///
    /// A `contentType` that is no media type is kept as the form's fault: ``validate()`` and reading the body throw
    /// ``MultipartError/Code/invalidContentType``.
    public mutating func append(_ data: Data, name: String, fileName: String?, contentType: String?) {
        checkContentType(contentType, name: name)
        append(MultipartPart(name: name, fileName: fileName, contentType: contentType, content: .data(data)))
    }

    /// Adds a file, which is read as the body is sent.
    ///
    /// The size is taken now. If it is another when the file is read, reading throws
    /// ``MultipartError/Code/fileChanged``, so that a request never says a wrong length.
    ///
    /// - Parameters:
    ///   - url: A `file:` URL of a regular file.
    ///   - name: The part's name.
    ///   - fileName: The default is the last component of the path.
    ///   - contentType: The default goes by the path's extension, see ``MediaTypeTable``.
    /// - Throws: ``MultipartError`` with ``MultipartError/Code/unreadableFile`` or
    ///   ``MultipartError/Code/invalidContentType``.
    public mutating func append(
        fileAt url: URL,
        name: String,
        fileName: String? = nil,
        contentType: String? = nil
    ) throws(MultipartError) {
        guard url.isFileURL else {
            throw MultipartError(code: .unreadableFile, message: "\(url) is not a file URL", partName: name)
        }
        if let contentType, let error = contentTypeError(contentType, name: name) { throw error }
        let file = try MultipartFile(path: url.path, partName: name)
        append(
            MultipartPart(
                name: name,
                fileName: fileName ?? url.lastPathComponent,
                contentType: contentType ?? MediaTypeTable.mediaType(forPathExtension: url.pathExtension),
                content: .file(file)
            )
        )
    }

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

    /// Adds a part that is pulled from a reader.
    ///
    /// - Parameters:
    ///   - makeReader: Opens the stream when the part's turn comes.
    ///   - name: The part's name.
    ///   - fileName: The name of the file that it is to the server, if it is one.
    ///   - contentType: Treated as ``append(_:name:fileName:contentType:)`` does.
    ///   - length: The exact number of bytes; nil if it is not known, and the whole body goes out chunked. Another
    ///     number makes reading throw ``MultipartError/Code/lengthMismatch``.
    ///   - isReplayable: Whether `makeReader` gives the same bytes each time; if not, it is called once only.
    public mutating func append(
        stream makeReader: @escaping @Sendable () throws -> any HTTPBodyReader,
        name: String,
        fileName: String? = nil,
        contentType: String? = nil,
        length: Int64?,
        isReplayable: Bool
    ) {
        checkContentType(contentType, name: name)
        if let length, length < 0 {
            record(MultipartError(code: .lengthMismatch, message: "a length below zero: \(length)", partName: name))
        }
        let body = HTTPBody.stream(length: length, isReplayable: isReplayable, makeReader: makeReader)
        append(MultipartPart(name: name, fileName: fileName, contentType: contentType, content: .stream(body)))
    }

    /// Adds a part with header fields of the caller's, and nothing but them.
    public mutating func append(headerFields: HTTPFields, body: Data) {
        append(MultipartPart(headerFields: headerFields, body: body))
    }

    private mutating func checkContentType(_ contentType: String?, name: String) {
        if let contentType, let error = contentTypeError(contentType, name: name) { record(error) }
    }

    private func contentTypeError(_ contentType: String, name: String) -> MultipartError? {
        guard MediaType(contentType) == nil else { return nil }
        return MultipartError(
            code: .invalidContentType,
            message: "\(contentType.debugDescription) is not a media type, in the part \(name.debugDescription)",
            partName: name
        )
    }
}
