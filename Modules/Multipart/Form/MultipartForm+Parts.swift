public import FoundationEssentials
public import HTTPTypes
public import LinnetSerialization

extension MultipartForm {
    /// Adds a part without a file name and a content type, as a form's text field is sent.
    public mutating func append(_ data: Data, name: String) {
        append(FormPart(name: name, fileName: nil, contentType: nil, content: .data(data)))
    }

    /// Adds a text, in UTF-8.
    ///
    /// - Parameters:
    ///   - text: The content.
    ///   - name: The part's name.
    ///   - fileName: The name of the file that it is to the server, if it is one.
    ///   - contentType: Treated as ``append(_:name:fileName:contentType:)-(Data,_,_,_)`` does. The default is none, which
    ///     means `text/plain` in UTF-8 (RFC 7578, section 4.4).
    public mutating func append(
        _ text: String, name: String, fileName: String? = nil, contentType: String? = nil
    ) {
        append(Data(text.utf8), name: name, fileName: fileName, contentType: contentType)
    }

    /// Adds a part in memory that is a file to the server.
    ///
    /// A `contentType` that is no media type is kept as the form's fault: ``validate()`` and reading the body throw
    /// ``MultipartError/Code/invalidContentType``.
    public mutating func append(_ data: Data, name: String, fileName: String?, contentType: String?) {
        checkContentType(contentType, name: name)
        append(FormPart(name: name, fileName: fileName, contentType: contentType, content: .data(data)))
    }

    /// Adds a file, which is read as the body is sent.
    ///
    /// The size is taken now. If it is another when the file is read, reading throws
    /// ``MultipartError/Code/fileChanged`` before the last bytes, so that a request never says a wrong length.
    ///
    /// - Parameters:
    ///   - url: A `file:` URL of a regular file.
    ///   - name: The part's name.
    ///   - fileName: The default is the last component of the path.
    ///   - contentType: The default goes by the path's extension, in ``mediaTypes``.
    /// - Throws: ``MultipartError`` with ``MultipartError/Code/unreadableFile`` or
    ///   ``MultipartError/Code/invalidContentType``.
    public mutating func append(
        fileAt url: URL,
        name: String,
        fileName: String? = nil,
        contentType: String? = nil
    ) throws(MultipartError) {
        if let contentType, let error = contentTypeError(contentType, name: name) { throw error }
        append(
            FormPart(
                name: name,
                fileName: fileName ?? url.lastPathComponent,
                contentType: contentType ?? mediaTypes.mediaType(forPathExtension: url.pathExtension),
                content: .file(try file(at: url, name: name))
            )
        )
    }

    /// Adds a part with header fields of the caller's, and nothing but them.
    public mutating func append(headerFields: HTTPFields, body: Data) {
        append(FormPart(headerFields: headerFields, content: .data(body)))
    }

    /// Adds a part with header fields of the caller's, and nothing but them, from any body: a file, a stream, or the body
    /// of another form, which is how one multipart goes into another.
    ///
    /// ```swift
    /// var message = MultipartForm(subtype: .mixed)
    /// message.append(headerFields: [.contentType: album.contentType], body: album.makeBody())
    /// ```
    public mutating func append(headerFields: HTTPFields, body: HTTPBody) {
        append(FormPart(headerFields: headerFields, content: content(of: body)))
    }

    /// Data and files are known for what they are, so that the boundary is looked for and sizes are watched.
    func content(of body: HTTPBody) -> FormPart.Content {
        if let data = body.data { return .data(data) }
        return body.file.map(FormPart.Content.file) ?? .stream(body)
    }

    mutating func checkContentType(_ contentType: String?, name: String) {
        if let contentType, let error = contentTypeError(contentType, name: name) { record(error) }
    }

    private func file(at url: URL, name: String) throws(MultipartError) -> BodyFile {
        do {
            return try BodyFile(url)
        } catch {
            throw MultipartError(
                code: .unreadableFile, message: error.message, partName: name, partIndex: count,
                underlying: error.underlying ?? error)
        }
    }

    private func contentTypeError(_ contentType: String, name: String) -> MultipartError? {
        guard !MediaType.isWellFormed(contentType) else { return nil }
        return MultipartError(
            code: .invalidContentType,
            message:
                "The content type \(contentType.debugDescription) of the part \(name.debugDescription) is not a media type.",
            partName: name, partIndex: count
        )
    }
}

extension MultipartForm {
    /// Adds a part from any body.
    ///
    /// - Parameters:
    ///   - body: The content. It says whether its length is known, and whether it can be read again.
    ///   - name: The part's name.
    ///   - fileName: The name of the file that it is to the server, if it is one.
    ///   - contentType: Treated as ``append(_:name:fileName:contentType:)-(Data,_,_,_)`` does.
    public mutating func append(
        _ body: HTTPBody, name: String, fileName: String? = nil, contentType: String? = nil
    ) {
        checkContentType(contentType, name: name)
        if let length = body.length, length < 0 {
            record(
                MultipartError(
                    code: .lengthMismatch,
                    message: "The length \(length) of the part \(name.debugDescription) is negative.", partName: name,
                    partIndex: count))
        }
        append(FormPart(name: name, fileName: fileName, contentType: contentType, content: content(of: body)))
    }

    /// Adds a part that is pulled from a reader.
    ///
    /// - Parameters:
    ///   - makeReader: Opens the stream when the part's turn comes.
    ///   - name: The part's name.
    ///   - fileName: The name of the file that it is to the server, if it is one.
    ///   - contentType: Treated as ``append(_:name:fileName:contentType:)-(Data,_,_,_)`` does.
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
        let body = HTTPBody.stream(length: length, isReplayable: isReplayable, makeReader: makeReader)
        append(body, name: name, fileName: fileName, contentType: contentType)
    }

    /// Adds a part from an async sequence of chunks.
    ///
    /// - Parameters:
    ///   - chunks: The content. It is iterated when the part's turn comes.
    ///   - name: The part's name.
    ///   - fileName: The name of the file that it is to the server, if it is one.
    ///   - contentType: Treated as ``append(_:name:fileName:contentType:)-(Data,_,_,_)`` does.
    ///   - length: The exact number of bytes, or nil if it is not known; see
    ///     ``append(stream:name:fileName:contentType:length:isReplayable:)``.
    ///   - isReplayable: Whether the sequence gives the same bytes each time. The default is false.
    public mutating func append<Chunks: AsyncSequence & Sendable>(
        chunks: Chunks, name: String, fileName: String? = nil, contentType: String? = nil, length: Int64?,
        isReplayable: Bool = false
    ) where Chunks.Element: DataProtocol {
        let body = HTTPBody.chunks(chunks, length: length, isReplayable: isReplayable)
        append(body, name: name, fileName: fileName, contentType: contentType)
    }

    /// Adds a part from an async sequence of bytes; see
    /// ``append(chunks:name:fileName:contentType:length:isReplayable:)``.
    public mutating func append<Bytes: AsyncSequence & Sendable>(
        bytes: Bytes, name: String, fileName: String? = nil, contentType: String? = nil, length: Int64?,
        isReplayable: Bool = false
    ) where Bytes.Element == UInt8 {
        let body = HTTPBody.bytes(bytes, length: length, isReplayable: isReplayable)
        append(body, name: name, fileName: fileName, contentType: contentType)
    }
}

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
