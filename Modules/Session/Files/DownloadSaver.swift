internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetSecurity
internal import LinnetSerialization
internal import LinnetTransport
internal import NIOCore

/// Takes one response's body to its file. All of it may block.
struct DownloadSaver: Sendable {
    /// What the body is.
    enum Content: Sendable {
        /// The whole, with the reason if a part was to be resumed.
        case whole(DownloadResumption.Reason?)
        /// What is missing of a part, and the length of the whole, if it is known.
        case rest(of: ResumeData, Int64?)
    }

    let response: StreamedResponse
    private let request: Request
    private let plan: DownloadPlan
    private let content: Content
    private let sink: (any EngineSink)?
    private let hooks: RequestHooks?

    init(
        _ request: Request, _ response: StreamedResponse, _ plan: DownloadPlan, _ content: Content,
        _ sink: (any EngineSink)?, _ hooks: RequestHooks?
    ) {
        self.request = request
        self.response = response
        self.plan = plan
        self.content = content
        self.sink = sink
        self.hooks = hooks
    }

    /// The way of the bytes: a batch is taken from the connection, which is read on while the batch is written.
    func save() async throws(SessionError) -> String {
        let length = response.head.bodyLength(answering: request.method)
        announce(length)
        var batches = response.body.makeAsyncIterator()
        try await sink.passGate(response.url)
        var batch = try await batches.nextBatch()
        try await validate(beginning: batch, &batches)
        let destination = try plan.destination(for: response)
        let (file, hasher) = try openPart(destination)
        var keeper = makeKeeper(length, hasher)
        do throws(SessionError) {
            let start = file.size
            while let buffers = batch {
                try fileStep { () throws(FileFailure) in
                    try file.write(buffers)
                    try keeper?.wrote(buffers, to: file)
                }
                sink?.didReceiveBody(bytes: buffers.reduce(0) { $0 + $1.readableBytes })
                if let length, file.size - start > length { throw wrongLength(length, file.size - start) }
                try await sink.passGate(response.url)
                batch = try await batches.nextBatch()
            }
            if let length, file.size - start < length { throw wrongLength(length, file.size - start) }
            if case .rest(_, let total?) = content, file.size < total { throw wrongLength(total, file.size) }
            let place = try await choosePlace(file, destination)
            try await sink.commit(response.url)
            let path = try fileStep { () throws(FileFailure) in
                try place.take(file, setsPermissions: isRest || destination == nil)
            }
            plan.removeResumeFile()
            return path
        } catch {
            throw keepPart(file, keeper, error)
        }
    }

    // MARK: Steps

    private var isRest: Bool { if case .rest = content { true } else { false } }

    private func announce(_ length: Int64?) {
        guard case .rest(let resume, let total) = content else {
            sink?.willReceiveBody(length: length)
            return
        }
        sink?.willReceiveBody(length: total ?? length.map { $0 + resume.offset }, from: resume.offset)
    }

    private func openPart(
        _ destination: DownloadDestination?
    ) throws(SessionError) -> (PartialFile, SHA256Hasher?) {
        if case .rest(let resume, _) = content {
            let opened = try PartialFile.reopen(resume, finalPath: destination?.place.path ?? resume.partialFile.path)
            plan.link?.setResumption(.resumed(at: resume.offset))
            return (opened.file, opened.hasher)
        }
        let place = if let destination { destination } else { try plan.temporaryPlace() }
        let file = try fileStep { () throws(FileFailure) -> PartialFile in
            let file = try place.makePartialFile()
            if plan.keepsPart { try file.lock() }
            return file
        }
        if case .whole(let reason?) = content {
            plan.resume?.discard()
            plan.link?.setResumption(.startedOver(reason))
        }
        return (file, nil)
    }

    private func makeKeeper(_ length: Int64?, _ hasher: SHA256Hasher?) -> PartKeeper? {
        guard plan.link != nil || plan.keepsPart else { return nil }
        guard case .rest(let resume, let total) = content else {
            return PartKeeper(
                response, answering: request, total: length, options: plan.options, continuing: nil, hasher: nil)
        }
        return PartKeeper(
            response, answering: request, total: total, options: plan.options, continuing: resume, hasher: hasher)
    }

    /// Keeps or removes what is there of a download that broke off.
    private func keepPart(_ file: PartialFile, _ keeper: PartKeeper?, _ error: SessionError) -> SessionError {
        var error = error
        if plan.keepsPart, let data = (try? keeper?.finish(file)) ?? nil {
            error.resumeData = data
            file.leave()
        } else {
            file.discard()
            plan.removeResumeFile()
        }
        return error
    }

    /// Where a complete file goes: where the hook says, or else where the request does. The file is complete when they are
    /// called.
    private func choosePlace(
        _ file: PartialFile, _ destination: DownloadDestination?
    ) async throws(SessionError) -> DownloadDestination {
        let isAsked = hooks?.isSeen(\.willPlaceDownload) == true || destination == nil
        if isAsked {
            try fileStep { () throws(FileFailure) in try file.close(synchronizing: plan.options.synchronizes) }
        }
        if let hooks, let place = try await hooks.willPlaceDownload(URL(filePath: file.path), response.head) {
            return try plan.destination(at: place, response)
        }
        if let destination { return destination }
        return try plan.chooseDestination(of: file, response)
    }

    // MARK: Validation

    /// Judges a response by its head and by whether it has a body; the body of one that is refused goes into the error.
    private func validate(
        beginning first: CircularBuffer<ByteBuffer>?, _ batches: inout ResponseBody.Iterator
    ) async throws(SessionError) {
        let beginning = first?.first.map { Data($0) } ?? Data()
        var head = response.head
        // The rest of what was accepted as a whole.
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
            "The response's body has \(size < length ? "fewer" : "more") than the \(length) bytes it promised.",
            url: response.url)
    }
}

extension (any EngineSink)? {
    /// Returns when bytes may flow.
    fileprivate func passGate(_ url: URL) async throws(SessionError) {
        guard let self else { return }
        do {
            try await self.passGate()
        } catch {
            throw SessionError(thrown: error, url: url)
        }
    }

    /// Returns when the file may be put in its place.
    fileprivate func commit(_ url: URL) async throws(SessionError) {
        guard let self else { return }
        do {
            try await self.commit()
        } catch {
            throw SessionError(thrown: error, url: url)
        }
    }
}
