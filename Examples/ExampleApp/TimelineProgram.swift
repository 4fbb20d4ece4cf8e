import ExampleSupport
import FoundationEssentials
import Linnet
import LinnetBackground
import LinnetImageSerialization
import LinnetUIState
import Observation

/// The app without its user interface: it turns events into a new state, and performs the state's effects.
///
/// The screen of a terminal and the web page are two ways to see it.
@MainActor
final class TimelineProgram {
    private(set) var state: TimelineState
    /// Called with each new state.
    var onChange: ((TimelineState) -> Void)?
    /// The files that were downloaded.
    private(set) var downloadedFiles: [URL] = []

    private let client: TimelineClient
    private let downloads: AttachmentDownloads
    private let pageSize: Int
    private let network: NetworkSource
    private let indicator: NetworkActivityIndicator
    private let refresh = RefreshState()
    private let board = TransferBoard()
    private var upload: (any SessionTask)?
    /// The download that is shown, until it has ended.
    private(set) var download: BackgroundTask.ID?
    private var works: [Int: Task<Void, Never>] = [:]
    private var workCount = 0
    private var isEnded = false

    init(
        client: TimelineClient, downloads: AttachmentDownloads, server: URL, pageSize: Int, network: NetworkSource,
        size: TerminalSize
    ) {
        self.client = client
        self.downloads = downloads
        self.pageSize = pageSize
        self.network = network
        indicator = NetworkActivityIndicator(isEnabled: true, following: [client.session])
        let port = server.port.map { ":\($0)" } ?? ""
        state = TimelineState(server: (server.host() ?? "") + port, size: size, now: Date())
        trackLiveState()
        start { [weak self] in
            for await status in network.statuses { self?.board.network = status }
        }
        start { [weak self, events = downloads.background.events] in
            for await event in events { self?.show(event) }
        }
    }

    /// Applies an event, and begins its actions.
    func send(_ event: TimelineEvent) {
        guard !isEnded else { return }
        switch event {
        case .key, .command:
            // Otherwise the results of an earlier key of the same read would come later.
            for effect in state.apply(.live(board.live(indicator, refresh))) { perform(effect) }
        default: break
        }
        for effect in state.apply(event) { perform(effect) }
        onChange?(state)
    }

    /// Ends all that the program has begun, and its session. An unfinished download goes on when the app is next
    /// started.
    func end() async {
        isEnded = true
        onChange = nil
        network.stop()
        indicator.isEnabled = false
        upload?.cancel()
        let works = works.values
        for work in works { work.cancel() }
        await downloads.background.shutdown()
        await client.session.shutdown(.immediate)
        for work in works { await work.value }
    }

    /// Reads the observable objects, now and whenever one of them has changed.
    private func trackLiveState() {
        guard !isEnded else { return }
        let live = withObservationTracking {
            board.live(indicator, refresh)
        } onChange: { [weak self] in
            // The new value is set after this call.
            Task { @MainActor in self?.trackLiveState() }
        }
        send(.live(live))
    }

    private func perform(_ effect: TimelineEffect) {
        switch effect {
        case .refresh: load()
        case .loadAvatars(let users): for user in users { loadAvatar(of: user) }
        case .download(let attachment): add(attachment)
        case .upload: uploadPicture()
        case .suspendOrResume: suspendOrResume()
        case .cancelTransfer: cancelTransfer()
        }
    }

    private func load() {
        let (task, count) = (client.postsTask(pageSize), pageSize)
        refresh.follow(task)
        task.resume()
        start { [weak self] in
            do throws(SessionError) {
                let response = try await task.value
                self?.send(.loaded(TimelineClient.page(count, of: response).value, ResponseFacts(response)))
            } catch {
                self?.send(.failed(ErrorLine(error).text, refusal: error.trustRefusal.map(Self.lines) ?? []))
            }
        }
    }

    /// The reason of a refused certificate, a remedy, and the pins to compare.
    private static func lines(_ refusal: TrustRefusal) -> [String] {
        let pins = [("The policy's pins:", refusal.wantedPins), ("The server's pins:", refusal.seenPins)]
        return [refusal.message, refusal.advice(anchorsOption: "in SSL_CERT_FILE")]
            + pins.filter { !$0.1.isEmpty }.flatMap { [$0.0] + $0.1.map { "  \($0)" } }
    }

    private func loadAvatar(of user: User) {
        start { [weak self, client] in
            // Without a picture, the first letters of the name are shown.
            guard let picture = await client.avatar(of: user), let self else { return }
            board.pictureCount = client.avatars.imageCache?.count ?? 0
            board.pictureBytes = client.avatars.imageCache?.memoryUsage ?? 0
            send(.avatar(user, picture))
        }
    }

    private func add(_ attachment: Attachment) {
        start { [weak self, downloads] in
            do throws(BackgroundError) {
                // The events of the session show it.
                try await downloads.add(attachment)
            } catch {
                self?.send(.failed("\(attachment.name): \(error.message)"))
            }
        }
    }

    /// Shows the news of a download: of one that an earlier run has left, too.
    private func show(_ event: BackgroundEvent) {
        guard let task = event.task, event.kind != .adopted || !task.state.isEnd,
            download == nil || download == task.id
        else { return }
        download = task.state.isEnd ? nil : task.id
        if task.state == .completed { downloadedFiles.append(task.file) }
        board.transfer = TransferStatus(task)
    }

    private func suspendOrResume() {
        guard let download else {
            upload?.state == .suspended ? upload?.resume() : upload?.suspend()
            return
        }
        let isSuspended = board.transfer?.phase == .suspended
        start { [background = downloads.background] in
            _ = try? await isSuspended ? background.resume(download) : background.pause(download)
        }
    }

    private func cancelTransfer() {
        guard let download else {
            upload?.cancel()
            return
        }
        start { [background = downloads.background] in _ = try? await background.cancel(download) }
    }

    private func uploadPicture() {
        guard let user = state.selectedPost?.user, let avatar = state.avatars[user] else {
            send(.failed("There is no picture to upload yet."))
            return
        }
        let name = "\(user.username).bmp"
        let task = client.uploadTask(UploadPicture.file(avatar.picture), fileName: name)
        upload = task
        var status = TransferStatus(.upload, name: name)
        board.transfer = status
        task.resume()
        start { [weak self] in
            for await event in task.events {
                switch event {
                case .state(.suspended): status.phase = .suspended
                case .state(.running): status.phase = .running
                case .state: break
                case .progress(let progress): status.show(progress.upload)
                case .completed(.success(let response)):
                    status.phase = .finished
                    status.detail = "status \(response.status.code)"
                case .completed(.failure(let error)):
                    status.phase = error.code == .cancelled ? .cancelled : .failed
                    status.detail = error.code == .cancelled ? nil : error.message
                }
                self?.board.transfer = status
            }
        }
    }

    /// Runs work that ends with the program.
    private func start(_ work: @escaping @MainActor () async -> Void) {
        workCount += 1
        let number = workCount
        works[number] = Task { [weak self] in
            await work()
            self?.works[number] = nil
        }
    }
}

/// The observable values that belong to the app itself, besides the values of LinnetUIState.
@MainActor
@Observable
final class TransferBoard {
    var transfer: TransferStatus?
    var network = ReachabilityStatus.unknown
    var pictureCount = 0
    var pictureBytes = 0

    /// All that is live at this time.
    func live(_ indicator: NetworkActivityIndicator, _ refresh: RefreshState) -> LiveState {
        var live = LiveState()
        live.isRefreshing = refresh.isRefreshing
        live.isIndicatorVisible = indicator.isVisible
        live.activityCount = indicator.activityCount
        live.transfer = transfer
        live.isNetworkReachable = network.isReachable || !network.isKnown
        live.network = network.kind.map { "\($0) \(network.interfaceName ?? "")" } ?? network.description
        live.networkDetail = network.description
        live.networkPath = Self.lines(network.path)
        live.pictureCount = pictureCount
        live.pictureBytes = pictureBytes
        return live
    }

    private static func lines(_ path: ReachabilityPath?) -> [String] {
        guard let path else { return [] }
        let parts = [
            path.underlyingKind.map { "over \($0)" }, path.sourceAddress.map { "from \($0)" },
            path.gateway.map { "gateway \($0)" }, path.mtu.map { "MTU \($0)" },
        ]
        return parts.compactMap { $0 }
    }
}
