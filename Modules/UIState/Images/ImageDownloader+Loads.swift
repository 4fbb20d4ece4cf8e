internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetSession
internal import Synchronization

/// The state of the load of an image.
struct ImageLoad<Image: DecodedImage>: Sendable {
    /// The request that created the load.
    let request: ImageRequest<Image>
    /// The image before processing, if it was in the cache.
    var original: Image?
    /// The response, until its body is decoded.
    var response: SessionResponse<Data>?
    var task: (any SessionTask)?
    /// Whether the download must stop as soon as it has a task.
    var isStopped = false
}

extension ImageDownloader {
    /// Changes the state, and performs the resulting actions.
    func advance(_ change: (inout State) -> [Queue.Action]) {
        let (actions, forgotten) = state.withLock { state in
            let actions = change(&state) + state.queue.startNext()
            // The loads are released after unlocking.
            var forgotten: [ImageLoad<Image>] = []
            for case .forget(let id) in actions {
                if let load = state.loads.removeValue(forKey: id) { forgotten.append(load) }
            }
            return (actions, forgotten)
        }
        withExtendedLifetime(forgotten) {
            for action in actions { perform(action) }
        }
    }

    private func perform(_ action: Queue.Action) {
        switch action {
        case .fetch(let id): Task { await fetch(id) }
        case .decode(let id): Task { await decode(id) }
        case .setPriority(let id, let priority): state.withLock { $0.loads[id]?.task }?.priority = priority
        case .stop(let id): stop(id)
        case .forget: break
        }
    }

    private func stop(_ id: Queue.LoadID) {
        let task = state.withLock { state in
            state.loads[id]?.isStopped = true
            return state.loads[id]?.task
        }
        task?.cancel()
    }

    // MARK: The download

    @concurrent
    private func fetch(_ id: Queue.LoadID) async {
        guard let request = state.withLock({ $0.loads[id]?.request }) else { return }
        do throws(SessionError) {
            let response = try await response(to: request, for: id)
            var ended: (any SessionTask)?
            advance { state in
                state.loads[id]?.response = response
                ended = state.loads[id]?.task
                state.loads[id]?.task = nil
                return state.queue.downloaded(id)
            }
            // Released after unlocking, since releasing a task cancels it and releases the program's hooks.
            withExtendedLifetime(ended) {}
        } catch {
            fail(id, error)
        }
    }

    private func response(
        to request: ImageRequest<Image>, for id: Queue.LoadID
    ) async throws(SessionError) -> SessionResponse<Data> {
        var call = session.call(
            SessionRequest(url: request.url, headerFields: request.headerFields, options: request.options))
        if request.headerFields[.accept] == nil { call = call.header(.accept, "image/*") }
        // The serializer validates the response when it decodes the image.
        if let previewDecoder = configuration.previewDecoder {
            let task = call.streamTask(validation: .none)
            let observation = prepare(task, for: id)
            defer { observation.cancel() }
            let response = try await collect(task.response, for: id, previewDecoder)
            report(task.progress.download, of: id)
            return response
        }
        let task = call.task(DataResponseSerializer(validation: .none))
        let observation = prepare(task, for: id)
        defer { observation.cancel() }
        let response = try await task.value
        report(task.progress.download, of: id)
        return response
    }

    /// Connects a task with its load: its priority, its cancellation and its progress.
    private func prepare(_ task: any SessionTask, for id: Queue.LoadID) -> SessionObservation {
        let (isStopped, priority) = state.withLock { state in
            state.loads[id]?.task = task
            return (state.loads[id]?.isStopped ?? true, state.queue.priority(of: id))
        }
        task.priority = priority
        if isStopped { task.cancel() }
        return task.onProgress { [weak self] progress in
            if progress.download.completed > 0 { self?.report(progress.download, of: id) }
        }
    }

    private func report(_ progress: TransferProgress, of id: Queue.LoadID) {
        let downloads = state.withLock { state in
            state.queue.tickets(of: id).compactMap { state.downloads[$0] }
        }
        for download in downloads { download.report(progress) }
    }

    private func fail(_ id: Queue.LoadID, _ error: SessionError) {
        var failed: [ImageDownload<Image>] = []
        advance { state in
            let (tickets, actions) = state.queue.downloadEnded(id)
            failed = tickets.compactMap { state.downloads.removeValue(forKey: $0) }
            return actions
        }
        for download in failed { download.finish(.failure(error)) }
    }

    // MARK: Decoding

    @concurrent
    private func decode(_ id: Queue.LoadID) async {
        let taken = state.withLock { state in
            // This releases the body after decoding.
            let response = state.loads[id]?.response
            state.loads[id]?.response = nil
            return state.loads[id].map { ($0.request, $0.original, response) }
        }
        guard let (request, original, response) = taken else { return }
        let limit = original == nil ? commonLimit(of: id) : nil
        let scaled = limit.map { image(of: response, for: request, toFit: $0) }
        // Computed on demand, because with a common limit only receipts that are added later need it.
        lazy var whole = original.map { .success($0) } ?? image(of: response, for: request)
        if scaled == nil { _ = whole }
        var head = original == nil ? response?.withoutBody : nil
        var variants: [[String]: Result<Image, SessionError>] = [:]
        var next = nextDownloads(of: id)
        while let downloads = next {
            let results = downloads.map { download in
                let variant = download.request.variant
                let decoded = (download.request.firstLimit == limit ? scaled : nil) ?? whole
                let made = variants[variant] ?? decoded.flatMap { process($0, for: download.request) }
                if variants.updateValue(made, forKey: variant) == nil { keep(made, for: download.request) }
                return made
            }
            // Before the receipts are answered: who asks again after an answer must not share the load that gave it.
            next = nextDownloads(of: id)
            for (download, result) in zip(downloads, results) {
                download.finish(result.map { ImageResponse(image: $0, response: head) })
            }
            // Later receipts get an existing image, as if from the cache.
            head = nil
        }
    }

    /// The unanswered receipts of a decoded load; nil if none are left, which ends the load.
    private func nextDownloads(of id: Queue.LoadID) -> [ImageDownload<Image>]? {
        var downloads: [ImageDownload<Image>]?
        advance { state in
            let (tickets, actions) = state.queue.decoded(id)
            if !tickets.isEmpty { downloads = tickets.compactMap { state.downloads.removeValue(forKey: $0) } }
            return actions
        }
        return downloads
    }

    /// The size to which all receipts scale the image first, if the serializer can decode the image in this size; nil
    /// if there is none.
    private func commonLimit(of id: Queue.LoadID) -> Int? {
        guard scalingSerializer != nil else { return nil }
        let limits = state.withLock { state in
            Set(state.queue.tickets(of: id).map { state.downloads[$0]?.request.firstLimit })
        }
        return limits.count == 1 ? limits.first ?? nil : nil
    }

    private func image(
        of response: SessionResponse<Data>?, for request: ImageRequest<Image>, toFit limit: Int? = nil
    ) -> Result<Image, SessionError> {
        guard let response else { return .failure(.cancelledImage(request.url)) }
        let body = SerializedResponse(
            url: response.url, head: response.head, body: response.data, requestMethod: .get)
        do throws(SerializationError) {
            guard let limit, let scalingSerializer else { return .success(try serializer.serialize(body)) }
            return .success(try scalingSerializer.serialize(body, toFit: limit))
        } catch {
            var failure = SessionError(error, url: response.url)
            failure.metrics = response.metrics
            failure.redirects = response.redirects
            return .failure(failure)
        }
    }

    private func process(_ image: Image, for request: ImageRequest<Image>) -> Result<Image, SessionError> {
        var image = image
        for processor in request.processors {
            do {
                image = try processor.process(image)
            } catch {
                return .failure(.processorFailed(processor.identifier, error, request.url))
            }
        }
        return .success(image)
    }

    private func keep(_ made: Result<Image, SessionError>, for request: ImageRequest<Image>) {
        guard let imageCache, case .success(let image) = made, configuration.shouldCache(image, request) else { return }
        imageCache.add(image, for: request)
    }
}

extension SessionResponse where Value == Data {
    /// The response without its body, for callers that have the image.
    fileprivate var withoutBody: SessionResponse<Void> {
        var response = map { _ in () }
        response.data = Data()
        return response
    }
}
