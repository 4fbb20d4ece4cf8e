internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetSerialization
internal import LinnetTransport
internal import NIOCore

/// Writes one response's body to a file. All methods can block.
struct DownloadSaver: Sendable {
    /// The content of the body.
    enum Content: Sendable {
        /// The whole entity; with the reason, if the download should have resumed.
        case whole(DownloadOptions.Resumption.Reason?)
        /// The rest after a part, and the total length.
        case rest(of: ResumeData, Int64)
    }

    let response: StreamedResponse
    private let flight: Flight
    private let plan: DownloadPlan
    private let content: Content

    init(_ response: StreamedResponse, to flight: Flight, plan: DownloadPlan, content: Content) {
        self.flight = flight
        self.response = response
        self.plan = plan
        self.content = content
    }

    /// Writes the body batch by batch; the connection reads the next batch while one is written.
    func save() async throws(SessionError) -> String {
        let length = response.head.bodyLength(answering: flight.request.method) ?? rangeLength
        announce(length)
        var batches = TransferReader(response, of: flight)
        var batch = try await batches.nextBatch()
        // Before the file is created, so that an error page never replaces or creates one.
        try await validate(beginning: batch, &batches)
        let destination = try plan.destination(for: response)
        let (file, digest) = try openPart(destination)
        var keeper = makeKeeper(file, length, digest)
        do throws(SessionError) {
            file.writesBack = plan.options.synchronizes
            let start = file.size
            // A body that has arrived whole is written at once, and shows itself that it fits.
            if plan.options.reservesRoom, let length, length > Self.length(of: batch) {
                try fileStep { () throws(FileFailure) in try file.reserveRoom(for: length) }
            }
            while let count = try await write(&batch, to: file, &keeper) {
                // Checked for each batch: a server that ignores its own length must not fill the disk.
                if let length, file.size - start > length { throw wrongLength(length, file.size - start) }
                if let pace = plan.link?.pace {
                    // The bytes are in the file, and the pace may take long.
                    batches.confirm()
                    await pace(Int(count))
                }
                batch = try await batches.nextBatch()
            }
            if let length, file.size - start < length { throw wrongLength(length, file.size - start) }
            // The head of a range that is shorter than the requested one is right, too (RFC 9110, section 15.3.7).
            if case .rest(_, let total) = content, file.size != total { throw wrongLength(total, file.size) }
            // No checkpoint may describe the part once it has moved.
            await keeper?.stop()
            let place = try await choosePlace(file, destination)
            // After the rename, the file exists and a cancellation would be untrue, so none is accepted.
            try await flight.control.commit(response.url)
            let path = try fileStep { () throws(FileFailure) in
                try place.take(file, setsPermissions: isRest || destination == nil)
            }
            plan.removeResumeFile()
            return path
        } catch {
            throw await keepPart(file, keeper, error)
        }
    }

    // MARK: Steps

    private static func length(of buffers: CircularBuffer<ByteBuffer>?) -> Int64 {
        buffers?.reduce(0) { $0 + Int64($1.readableBytes) } ?? 0
    }

    private var isRest: Bool { if case .rest = content { true } else { false } }

    /// The number of bytes that the Content-Range of the rest declares.
    private var rangeLength: Int64? {
        guard isRest else { return nil }
        let range = response.head.headerFields[.contentRange].flatMap { ContentRange($0) }
        return range?.bytes.map { Int64($0.count) }
    }

    private func announce(_ length: Int64?) {
        guard case .rest(let resume, let total) = content else {
            flight.observer?.willReceiveBody(length: length)
            return
        }
        flight.observer?.willReceiveBody(length: total, from: resume.offset)
    }

    private func openPart(
        _ destination: DownloadDestination?
    ) throws(SessionError) -> (PartialFile, PartDigest?) {
        if case .rest(let resume, _) = content {
            let opened = try PartialFile.reopen(
                resume, finalPath: destination?.place.path ?? resume.partialFile.path,
                digestsAll: plan.options.resumeFile == nil || !plan.options.makesCheckpoints)
            plan.link?.setResumption(.resumed(at: resume.offset))
            return (opened.file, opened.digest)
        }
        let place = if let destination { destination } else { try plan.temporaryPlace() }
        let file = try fileStep { () throws(FileFailure) -> PartialFile in
            let file = try place.makePartialFile()
            // Its resume data may be stored while it is still written, and another download could begin with it.
            if plan.keepsPart { try file.lock() }
            return file
        }
        if case .whole(let reason?) = content {
            // Only now, since the server has begun to send the whole entity in its place.
            plan.resume?.discard()
            plan.link?.setResumption(.startedOver(reason))
        }
        return (file, nil)
    }

    /// Writes a batch and empties it, so that its memory is not held while the next one arrives.
    ///
    /// - Returns: The number of bytes; nil without a batch.
    private func write(
        _ batch: inout CircularBuffer<ByteBuffer>?, to file: PartialFile, _ keeper: inout PartKeeper?
    ) async throws(SessionError) -> Int64? {
        guard let buffers = batch.take() else { return nil }
        do throws(FileFailure) {
            try file.write(buffers)
            try await keeper?.wrote(buffers, to: file)
        } catch {
            throw SessionError(error, url: response.url)
        }
        return Self.length(of: buffers)
    }

    private func makeKeeper(_ file: PartialFile, _ length: Int64?, _ digest: PartDigest?) -> PartKeeper? {
        guard plan.mayBeResumed else { return nil }
        guard case .rest(let resume, let total) = content else {
            return PartKeeper(
                response, answering: flight.request, total: length, options: plan.options, part: file, continuing: nil,
                digest: nil)
        }
        return PartKeeper(
            response, answering: flight.request, total: total, options: plan.options, part: file, continuing: resume,
            digest: digest)
    }

    /// Keeps or removes the partial file of a failed download.
    private func keepPart(
        _ file: PartialFile, _ keeper: PartKeeper?, _ error: SessionError
    ) async -> SessionError {
        var error = error
        // A file that is at its destination already, although its folder could not be synchronized, is no part.
        if plan.keepsPart, !file.isMoved, let data = (try? await keeper?.finish(file)) ?? nil {
            error.resumeData = data
            file.leave()
        } else {
            await keeper?.stop()
            file.discard()
            plan.removeResumeFile()
        }
        return error
    }

    /// Returns the destination of a complete file: from the hook, or else from the request. The file is closed before
    /// the hook or the request's function is called.
    private func choosePlace(
        _ file: PartialFile, _ destination: DownloadDestination?
    ) async throws(SessionError) -> DownloadDestination {
        let isAsked = flight.hooks?.isSeen(\.willPlaceDownload) == true || destination == nil
        if isAsked {
            try fileStep { () throws(FileFailure) in try file.close(synchronizing: plan.options.synchronizes) }
        }
        if let hooks = flight.hooks,
            let place = try await hooks.willPlaceDownload(URL(filePath: file.path), response.head)
        {
            return try plan.destination(at: place, response)
        }
        if let destination { return destination }
        return try await plan.chooseDestination(of: file, response)
    }

    // MARK: Validation

    /// Validates a response by its head and the presence of a body. The error of a refused response contains its body.
    private func validate(
        beginning first: CircularBuffer<ByteBuffer>?, _ batches: inout TransferReader
    ) async throws(SessionError) {
        let beginning = first?.first.map { Data($0) } ?? Data()
        var head = response.head
        if case .whole = content { try checkWhole(head) }
        // The part came from a 200, so a 206 with the rest is valid if a 200 is.
        if case .rest = content { head.status = .ok }
        do {
            try plan.options.validation.validate(
                SerializedResponse(url: response.url, head: head, body: beginning))
        } catch {
            var refusal = error
            refusal.response?.body = await batches.collectErrorBody(after: first)
            throw SessionError(refusal, url: response.url)
        }
    }

    /// Refuses a part (206) that was not requested, unless it is the whole entity (RFC 9110, section 15.3.7).
    private func checkWhole(_ head: HTTPResponse) throws(SessionError) {
        guard head.status == .partialContent, !flight.request.headerFields.contains(.range) else { return }
        let range = head.headerFields[.contentRange].flatMap { ContentRange($0) }
        guard let range, let bytes = range.bytes, bytes.lowerBound == 0, bytes.upperBound + 1 == range.complete else {
            throw SessionError(
                .invalidResponse, "The server sent a part (206) although the whole was asked for.", url: response.url)
        }
    }

    private func fileStep<Value>(_ body: () throws(FileFailure) -> Value) throws(SessionError) -> Value {
        do {
            return try body()
        } catch {
            throw SessionError(error, url: response.url)
        }
    }

    private func wrongLength(_ length: Int64, _ size: Int64) -> SessionError {
        SessionError(
            size < length ? .connectionLost : .invalidResponse,
            "The response's body has \(size < length ? "fewer" : "more") than the \(length) bytes that its head declares.",
            url: response.url)
    }
}
