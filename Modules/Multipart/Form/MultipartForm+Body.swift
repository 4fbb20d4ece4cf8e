public import LinnetSerialization

extension MultipartForm {
    /// The parts that can be read once only, by name: what keeps the body from being sent again. A part without a name
    /// is there by its place, such as `part 2`.
    public var nonReplayablePartNames: [String] {
        parts.indices.filter { !parts[$0].isReplayable }.map { parts[$0].name ?? "part \($0 + 1)" }
    }

    /// Returns the body, which encodes the form as it is pulled, in chunks of at most ``chunkSize``.
    ///
    /// Memory does not grow with the parts' size. The body can be replayed if each part can; `replayObstacle` names
    /// those which cannot. Opening and reading it throw ``MultipartError``. A session reads the form's files on threads for
    /// files; who pulls the body by a reader of their own reads them there, which may block for as long as the disk takes.
    public func makeBody() -> HTTPBody {
        let once = nonReplayablePartNames
        let names = once.map(\.debugDescription).joined(separator: ", ")
        return .stream(
            length: contentLength,
            isReplayable: once.isEmpty,
            replayObstacle: once.isEmpty ? nil : "the form's part \(names) is a stream that can be read only once",
            readingFiles: { threads in
                try validate()
                return MultipartBodyReader(form: self, threads: threads)
            }
        )
    }
}
