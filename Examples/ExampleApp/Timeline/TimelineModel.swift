import FoundationEssentials
import Linnet
import LinnetBackground
import LinnetImageSerialization
import LinnetUIState
import Observation

/// The app without a user interface: it performs commands, and publishes the state that they lead to.
///
/// The screen of a terminal, the web page and the window are faces of it.
@MainActor
@Observable
final class TimelineModel {
    /// The files that were downloaded.
    private(set) var downloadedFiles: [URL] = []
    /// The download that is shown, until it has ended.
    private(set) var download: BackgroundTask.ID?
    /// The state without the values of LinnetUIState's objects.
    private var values: TimelineState
    private var avatars: [User: ImageState<Bitmap>] = [:]

    @ObservationIgnored private let client: TimelineClient
    @ObservationIgnored private let downloads: BackgroundSession
    @ObservationIgnored private let pageSize: Int
    @ObservationIgnored private let monitor: ReachabilityMonitor?
    @ObservationIgnored private let indicator: NetworkActivityIndicator
    @ObservationIgnored private let loading = RefreshState()
    @ObservationIgnored private var upload: UploadTask<Data>?
    @ObservationIgnored private var repetition: Task<Void, Never>?
    @ObservationIgnored private var readers: [AsyncStream<TimelineState>.Continuation] = []

    /// Creates a model, which shows the downloads of an earlier run, and does not load the timeline yet. It shuts both
    /// sessions down at its end. The status of the network is the given one until the monitor reports another.
    init(
        _ client: TimelineClient, downloads: BackgroundSession, pageSize: Int, network: ReachabilityStatus = .unknown,
        monitor: ReachabilityMonitor? = nil
    ) {
        self.client = client
        self.downloads = downloads
        self.pageSize = pageSize
        self.monitor = monitor
        indicator = NetworkActivityIndicator(isEnabled: true, following: [client.session])
        let url = client.session.baseURL
        values = TimelineState(server: (url?.host() ?? "") + (url?.port.map { ":\($0)" } ?? ""), network: network)
        publish()
        Task { [weak self, events = downloads.events] in
            for await event in events { self?.show(event) }
        }
        Task { [weak self, requests = client.requests] in
            for await _ in requests.changes { self?.values.waterfall = Waterfall(requests.last) }
        }
        guard let monitor else { return }
        Task { [weak self, statuses = monitor.statuses] in
            for await status in statuses { self?.values.network = status }
        }
    }

    /// The present state.
    var state: TimelineState {
        var state = values
        state.avatars = avatars.compactMapValues(\.image)
        state.isRefreshing = loading.isRefreshing
        state.isIndicatorVisible = indicator.isVisible
        state.requestCount = indicator.activityCount
        state.pictures = (client.avatars.imageCache?.count ?? 0, client.avatars.imageCache?.memoryUsage ?? 0)
        return state
    }

    /// The state, now and after each change, until ``end()``. A slow reader misses states, but never the last.
    var states: AsyncStream<TimelineState> {
        let (states, reader) = AsyncStream.makeStream(of: TimelineState.self, bufferingPolicy: .bufferingNewest(1))
        reader.yield(state)
        readers.append(reader)
        return states
    }

    /// Sends the state to the readers, now and whenever a value of it has changed.
    private func publish() {
        let state = withObservationTracking {
            self.state
        } onChange: { [weak self] in
            // The new value is set after this call.
            Task { @MainActor in self?.publish() }
        }
        readers.removeAll { if case .terminated = $0.yield(state) { true } else { false } }
    }

    /// Ends all that the model has begun. An unfinished download goes on when the app is next started.
    func end() async {
        for reader in readers { reader.finish() }
        monitor?.stop()
        indicator.isEnabled = false
        client.requests.end()
        repetition?.cancel()
        upload?.cancel()
        avatars = [:]
        await downloads.shutdown()
        await client.session.shutdown(.immediate)
    }

    /// Performs a command of the user, for one of the posts. A message says why a command has no effect.
    func perform(_ command: TimelineCommand, on post: Post?) {
        let isTransferring = values.transfer?.isActive == true
        switch command {
        case .refresh: refresh()
        case .download, .upload:
            guard !isTransferring else { return say(Self.oneTransfer) }
            command == .download ? add(post?.attachment) : uploadPicture(of: post?.user)
        case .suspend, .cancel:
            guard isTransferring else { return say("No transfer is running.") }
            command == .suspend ? suspendOrResume() : cancelTransfer()
        }
    }

    private static let oneTransfer = "A transfer is running; cancel it first (c)."

    private func say(_ text: String?, isError: Bool = false) {
        (values.message, values.isError) = (text, isError)
    }

    // MARK: The timeline

    /// Loads the timeline again and again, until the model ends.
    func refresh(every pause: Duration) {
        repetition = Task { [weak self] in
            while (try? await Task.sleep(for: pause)) != nil { self?.refresh() }
        }
    }

    private func refresh() {
        guard !loading.isRefreshing else { return }
        let task = client.postsTask(pageSize)
        task.resume()
        loading.follow(task)
        Task { [weak self] in
            do throws(SessionError) {
                let response = try await task.value
                self?.show(response)
            } catch {
                self?.show(error)
            }
        }
    }

    private func show(_ response: SessionResponse<Timeline>) {
        // A server may send more than was requested.
        values.posts = Array(response.value.data.prefix(pageSize))
        values.facts = ResponseFacts(response, after: values.facts)
        values.refusal = nil
        say(values.posts.isEmpty ? "The timeline is empty." : nil)
        let users = Set(values.posts.map(\.user))
        // A picture that could not be loaded is tried again.
        avatars = avatars.filter { users.contains($0) && $1.phase.error == nil }
    }

    /// Loads the pictures of the posts' users, each once. Each face calls it for the posts that come into view.
    func loadPictures(of posts: some Sequence<Post>) {
        for user in posts.lazy.map(\.user) where avatars[user] == nil {
            let picture = ImageState(client.avatars)
            avatars[user] = picture
            picture.load(ImageRequest(user.avatarImage.url))
        }
    }

    private func show(_ error: SessionError) {
        values.refusal = error.trustRefusal
        let message = error.trustRefusal.map { _ in "The server is not trusted, and nothing was sent." }
        say(message ?? error.explanation, isError: true)
    }

    // MARK: Transfers

    private func add(_ attachment: Attachment?) {
        guard let attachment else { return say("This post has no attachment.") }
        Task { [weak self, downloads] in
            do throws(BackgroundError) {
                // The events of the session show it.
                try await downloads.download(attachment)
            } catch {
                self?.say("\(attachment.name): \(error.message)", isError: true)
            }
        }
    }

    /// Shows the news of a download, also of one that an earlier run has left.
    private func show(_ event: BackgroundEvent) {
        guard let task = event.task, event.kind != .adopted || !task.state.isEnd,
            download == nil || download == task.id
        else { return }
        download = task.state.isEnd ? nil : task.id
        if task.state == .completed { downloadedFiles.append(task.file) }
        show(Transfer(task))
    }

    private func uploadPicture(of user: User?) {
        guard let user, let png = try? avatars[user]?.image?.pngData() else {
            return say("There is no picture to upload yet.", isError: true)
        }
        let name = "\(user.username).png"
        follow(client.uploadTask(png, fileName: name), named: name)
    }

    /// Uploads a file of the user. A message says why it has no effect.
    func upload(_ file: URL) {
        guard values.transfer?.isActive != true else { return say(Self.oneTransfer) }
        do throws(MultipartError) {
            follow(try client.uploadTask(file), named: file.lastPathComponent)
        } catch {
            say("\(file.lastPathComponent): \(error.message)", isError: true)
        }
    }

    /// The same for a file in memory.
    func upload(_ file: Data, named name: String) {
        guard values.transfer?.isActive != true else { return say(Self.oneTransfer) }
        follow(client.uploadTask(file, named: name), named: name)
    }

    /// Starts an upload, and shows its events.
    private func follow(_ task: UploadTask<Data>, named name: String) {
        var transfer = Transfer(isUpload: true, name: name)
        upload = task
        show(transfer)
        task.resume()
        Task { [weak self] in
            for await event in task.events {
                transfer.show(event)
                self?.show(transfer)
            }
        }
    }

    private func show(_ transfer: Transfer) {
        let wasActive = values.transfer?.isActive == true
        values.transfer = transfer
        guard wasActive, !transfer.isActive else { return }
        let detail = transfer.detail.map { ": \($0)" } ?? ""
        say("\(transfer.name) \(transfer.phase.rawValue)\(detail)", isError: transfer.phase == .failed)
    }

    private func suspendOrResume() {
        let isSuspended = values.transfer?.phase == .suspended
        if let download {
            Task { [downloads] in
                _ = try? await isSuspended ? downloads.resume(download) : downloads.pause(download)
            }
        } else {
            isSuspended ? upload?.resume() : upload?.suspend()
        }
    }

    private func cancelTransfer() {
        guard let download else {
            upload?.cancel()
            return
        }
        Task { [downloads] in _ = try? await downloads.cancel(download) }
    }
}
