import ExampleSupport
import FoundationEssentials
import Linnet
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
    private let pageSize: Int
    private let network: NetworkSource
    /// The folder for downloads. A download creates it.
    let folder: URL
    private let indicator: NetworkActivityIndicator
    private let refresh = RefreshState()
    private let board = TransferBoard()
    private var transfer: (any SessionTask)?
    private var works: [Int: Task<Void, Never>] = [:]
    private var workCount = 0
    private var isEnded = false

    init(client: TimelineClient, server: URL, pageSize: Int, network: NetworkSource, size: TerminalSize) {
        self.client = client
        self.pageSize = pageSize
        self.network = network
        indicator = NetworkActivityIndicator(isEnabled: true, following: [client.session])
        folder = FileManager.default.temporaryDirectory.appending(path: "linnet-example-\(UUID().uuidString.prefix(8))")
        let port = server.port.map { ":\($0)" } ?? ""
        state = TimelineState(server: (server.host() ?? "") + port, size: size, now: Date())
        trackLiveState()
        start { [weak self] in
            for await status in network.statuses { self?.board.network = status }
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

    /// Ends all that the program has begun, and its session.
    ///
    /// Downloaded files are kept for the user, who was shown their paths; without one, their folder is removed.
    func end() async {
        isEnded = true
        onChange = nil
        network.stop()
        indicator.isEnabled = false
        transfer?.cancel()
        let works = works.values
        for work in works { work.cancel() }
        await client.session.shutdown(.immediate)
        for work in works { await work.value }
        if downloadedFiles.isEmpty { try? FileManager.default.removeItem(at: folder) }
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
        case .download(let attachment): download(attachment)
        case .upload: upload()
        case .suspendOrResume: transfer?.state == .suspended ? transfer?.resume() : transfer?.suspend()
        case .cancelTransfer: transfer?.cancel()
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

    private func download(_ attachment: Attachment) {
        let task = client.downloadTask(attachment, into: folder)
        follow(task, as: TransferStatus(.download, name: attachment.name)) { [weak self] response in
            self?.downloadedFiles.append(response.value)
            return response.value.path
        }
    }

    private func upload() {
        guard let user = state.selectedPost?.user, let avatar = state.avatars[user] else {
            send(.failed("There is no picture to upload yet."))
            return
        }
        let name = "\(user.username).bmp"
        let task = client.uploadTask(UploadPicture.file(avatar.picture), fileName: name)
        follow(task, as: TransferStatus(.upload, name: name)) { "status \($0.status.code)" }
    }

    /// Starts a transfer, and shows its progress. `detail` describes its success.
    private func follow<Value>(
        _ task: TransferTask<Value>, as status: TransferStatus,
        detail: @escaping @MainActor (SessionResponse<Value>) -> String
    ) {
        transfer = task
        board.transfer = status
        task.resume()
        start { [weak self] in
            var status = status
            for await event in task.events {
                switch event {
                case .state(.suspended): status.phase = .suspended
                case .state(.running): status.phase = .running
                case .state: break
                case .progress(let progress):
                    status.show(status.direction == .download ? progress.download : progress.upload)
                case .completed(.success(let response)):
                    status.phase = .finished
                    status.detail = detail(response)
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
