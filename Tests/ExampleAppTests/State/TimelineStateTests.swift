import FoundationEssentials
import Testing

@testable import ExampleApp

@Suite(.timeLimit(.minutes(1)))
struct TimelineStateTests {
    @Test func theTimelineIsLoadedAtTheStartAndThenItsPictures() {
        var state = TimelineState(server: "localhost", size: TerminalSize(width: 80, height: 24), now: SampleState.now)
        #expect(state.apply(.started) == [.refresh])
        let posts = SamplePosts.posts(at: SampleState.now, host: "localhost")
        guard case .loadAvatars(let users)? = state.apply(.loaded(posts, SampleState.facts)).first else {
            Issue.record("The pictures are not loaded.")
            return
        }
        #expect(users.map(\.username) == SamplePosts.names)
    }

    @Test func loadedPicturesAreNotLoadedAgain() {
        var state = SampleState.loaded()
        #expect(state.apply(.loaded(state.posts, SampleState.facts)).isEmpty)
    }

    @Test func picturesOfUsersWithoutPostsAreDropped() throws {
        var state = SampleState.loaded()
        let (posts, count) = (state.posts, SamplePosts.names.count)
        #expect(state.avatars.count == count && state.lastAvatar == count)
        let kept = try #require(posts.first)
        _ = state.apply(.loaded([kept], SampleState.facts))
        #expect(state.avatars.keys.map(\.username) == [kept.user.username])
        let avatar = try #require(state.avatars[kept.user])
        guard case .loadAvatars(let users)? = state.apply(.loaded(posts, SampleState.facts)).first else {
            Issue.record("The pictures are not loaded.")
            return
        }
        #expect(users.count == count - 1)
        for user in users + [kept.user] { _ = state.apply(.avatar(user, avatar.picture)) }
        // No number is used twice.
        #expect(Set(state.avatars.values.map(\.number)).count == count)
        #expect(state.avatars[kept.user]?.number == avatar.number)
        #expect(state.lastAvatar == 2 * count - 1)
    }

    @Test func keysMoveTheSelectionWithinTheTimeline() {
        var state = SampleState.loaded()
        for (key, selected) in [
            (Key.up, 0), (.down, 1), (.character("j"), 2), (.character("k"), 1), (.end, 47), (.down, 47), (.home, 0),
            (.character("G"), 47), (.character("g"), 0),
        ] {
            #expect(state.apply(.key(key)).isEmpty)
            #expect(state.selected == selected, "\(key)")
        }
        _ = state.apply(.key(.pageDown))
        #expect(state.selected > 2)
        _ = state.apply(.key(.pageUp))
        #expect(state.selected == 0)
    }

    @Test(arguments: [(80, 24), (40, 12), (120, 50), (20, 6)])
    func theSelectedPostIsOnTheScreen(width: Int, height: Int) {
        var state = SampleState.loaded(width: width, height: height)
        for key in Array(repeating: Key.down, count: 50) + Array(repeating: .up, count: 50) + [.end, .pageUp, .home] {
            _ = state.apply(.key(key))
            let visible = state.layout.visible
            #expect(visible.contains { $0.index == state.selected })
            if let item = visible.first(where: { $0.index == state.selected }), item.index != state.top {
                // It is seen whole, unless it is the first one and higher than the screen.
                #expect(item.row + max(3, 1 + item.lines.count) <= state.layout.rows.upperBound)
            }
        }
        _ = state.apply(.key(.end))
        _ = state.apply(.resized(TerminalSize(width: 40, height: 10)))
        #expect(state.layout.visible.contains { $0.index == state.selected })
    }

    @Test func theSelectionStaysOnItsPostAfterARefresh() {
        var state = SampleState.loaded()
        _ = state.apply(.key(.down))
        let selected = state.selectedPost
        _ = state.apply(.loaded(Array(state.posts.dropFirst()), SampleState.facts))
        #expect(state.selectedPost == selected)
        #expect(state.selected == 0)
    }

    @Test func oneTransferRunsAtATime() {
        var state = SampleState.loaded()
        #expect(state.apply(.key(.character("s"))).isEmpty)
        #expect(state.message == "No transfer is running.")
        guard case .download(let attachment)? = state.apply(.key(.character("d"))).first else {
            Issue.record("The attachment is not downloaded.")
            return
        }
        #expect(attachment.name == "birds-1000.bin")
        show(.running, in: &state)
        #expect(state.apply(.key(.character("d"))).isEmpty)
        #expect(state.apply(.key(.character("u"))).isEmpty)
        #expect(state.message?.contains("cancel it first") == true)
        #expect(state.apply(.key(.character("s"))) == [.suspendOrResume])
        show(.suspended, in: &state)
        #expect(state.apply(.key(.character("s"))) == [.suspendOrResume])
        #expect(state.apply(.key(.character("c"))) == [.cancelTransfer])
        show(.cancelled, in: &state)
        #expect(state.message == "birds-1000.bin cancelled")
        #expect(state.apply(.key(.character("u"))) == [.upload])
    }

    @Test func aPostWithoutAnAttachmentSaysSo() {
        var state = SampleState.loaded()
        _ = state.apply(.key(.down))
        #expect(state.apply(.key(.character("d"))).isEmpty)
        #expect(state.message == "This post has no attachment.")
    }

    @Test func aCommandOfThePageNamesThePost() {
        var state = SampleState.loaded()
        guard case .download(let attachment)? = state.apply(.command(.download(post: 997))).first else {
            Issue.record("The attachment is not downloaded.")
            return
        }
        #expect(attachment.name == "birds-997.bin")
        #expect(state.selectedPost?.id == 997)
    }

    @Test func aRunningRefreshIsNotRepeated() {
        var state = SampleState.loaded()
        var live = state.live
        live.isRefreshing = true
        _ = state.apply(.live(live))
        #expect(state.apply(.key(.character("r"))).isEmpty)
        #expect(state.isAnimated)
    }

    @Test func aFailureIsShownUntilTheNextSuccess() {
        var state = SampleState.loaded()
        _ = state.apply(.failed("The server failed."))
        #expect(state.isError && state.message == "The server failed.")
        _ = state.apply(.loaded(state.posts, SampleState.facts))
        #expect(!state.isError && state.message == nil)
    }

    @Test func aResponseOfTheCacheKeepsTheFactsOfTheConnection() {
        var state = SampleState.loaded()
        var facts = SampleState.facts
        (facts.httpVersion, facts.encryption, facts.isPinned, facts.cache) = (nil, nil, false, "hit")
        _ = state.apply(.loaded(state.posts, facts))
        #expect(state.facts?.httpVersion == "http/1.1")
        #expect(state.facts?.isPinned == true)
        #expect(state.facts?.cache == "hit")
    }

    @Test func panelsOpenAndClose() {
        var state = SampleState.loaded()
        _ = state.apply(.key(.character("?")))
        #expect(state.panel == .help)
        _ = state.apply(.key(.character("i")))
        #expect(state.panel == .metrics)
        _ = state.apply(.key(.character("i")))
        #expect(state.panel == nil)
        _ = state.apply(.key(.character("n")))
        _ = state.apply(.key(.escape))
        #expect(state.panel == nil)
    }

    @Test func theFirstReasonToEndIsTheExitCode() {
        var state = SampleState.loaded()
        _ = state.apply(.ended(143))
        _ = state.apply(.key(.character("q")))
        #expect(state.exitCode == 143)
        var other = SampleState.loaded()
        _ = other.apply(.key(.character("q")))
        _ = other.apply(.ended(143))
        #expect(other.exitCode == 0)
    }

    @Test(arguments: [
        (0, "now"), (-5, "now"), (5, "5 s ago"), (59, "59 s ago"), (60, "1 min ago"), (3599, "59 min ago"),
        (3600, "1 h ago"), (86_399, "23 h ago"), (86_400 * 3, "3 d ago"),
    ])
    func timesAreRelative(seconds: Int, text: String) {
        #expect(RelativeTime.text(SampleState.now.addingTimeInterval(-Double(seconds)), now: SampleState.now) == text)
    }

    private func show(_ phase: TransferStatus.Phase, in state: inout TimelineState) {
        var live = state.live
        live.transfer = SampleState.transfer(phase)
        _ = state.apply(.live(live))
    }
}
