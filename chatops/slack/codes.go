package slack

// meaning is what Slack's error codes mean for one subject of a call.
type meaning struct {
	is    error
	codes map[string]string // code → in words
}

// Slack's error codes by meaning, from the pages of the methods, https://docs.slack.dev/reference/methods/chat.postMessage,
// …/chat.update, …/chat.postEphemeral, …/conversations.open, …/conversations.info, …/conversations.members, …/conversations.history, …/conversations.replies,
// …/users.info, …/usergroups.users.list, …/views.open, …/views.update and …/views.publish. Codes of a malformed call are not here:
// they are our mistake, and are tried again and found like any other.
var (
	// ofToken: the token or its permissions, whatever the call.
	ofToken = meaning{ErrRefused, map[string]string{
		"invalid_auth": "the bot token is not valid", "not_authed": "no bot token was sent", "account_inactive": "the bot's account was switched off, or the app removed",
		"token_revoked": "the bot token was revoked", "token_expired": "the bot token expired", "missing_scope": "the app lacks a scope",
		"not_allowed_token_type": "it is no bot token", "access_denied": "the workspace does not allow it", "team_access_not_granted": "the app has no access to this workspace",
		"restricted_action": "the workspace's rules do not let the app write", "no_permission": "the workspace's rules do not let the app write",
		"org_login_required": "the workspace is being moved", "team_added_to_org": "the workspace is being moved",
		"ekm_access_denied": "the workspace's administrators suspended it", "enterprise_is_restricted": "the organization does not allow it",
		"accesslimited": "this network is not allowed to call Slack", "two_factor_setup_required": "the account needs two-factor authentication",
		"not_enabled": "the app's Home tab is switched off",
	}}
	// everyCall are the codes of ofToken that every call gets.
	everyCall = []string{"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "not_allowed_token_type",
		"team_access_not_granted", "org_login_required", "team_added_to_org", "ekm_access_denied", "enterprise_is_restricted",
		"accesslimited", "two_factor_setup_required"}
	// ofChannel: a channel that the bot writes in or reads.
	ofChannel = meaning{ErrChannel, map[string]string{
		"not_in_channel": "the bot is not in it", "channel_not_found": "it was deleted, or it is private and the bot is not in it",
		"is_archived": "it is archived", "is_inactive": "it is archived or was deleted", "team_not_found": "its workspace is gone",
		"no_permission": "the bot is not in it", "restricted_action": "the workspace's rules do not let the app write there",
		"restricted_action_read_only_channel": "it is read-only", "restricted_action_thread_only_channel": "it takes answers in threads alone",
		"restricted_action_non_threadable_channel": "it takes no answers in threads", "restricted_action_thread_locked": "the thread is locked",
		"channel_type_not_supported": "the bot cannot write in conversations of this type", "method_not_supported_for_channel_type": "the bot cannot write in conversations of this type",
		"external_channel_migrating": "it is being moved", "messages_tab_disabled": "the app's Messages tab is switched off",
		"user_disabled": "the person's account was switched off", "user_not_in_channel": "the person is not in it",
	}}
	// ofMessage: a message that is changed or answered in its thread.
	ofMessage = meaning{ErrGone, map[string]string{
		"message_not_found": "the message was deleted", "thread_not_found": "the thread was deleted",
		"cannot_reply_to_message": "the message takes no answers", "cant_update_message": "the message is not the bot's",
		"edit_window_closed": "the workspace lets nobody edit so old a message",
	}}
	// ofPerson: somebody who is answered or looked up.
	ofPerson = meaning{ErrNever, map[string]string{
		"user_not_found": "there is no such person", "users_not_found": "there is no such person", "user_disabled": "their account was switched off",
		"user_not_visible": "the bot may not see them", "cannot_dm_bot": "it is a bot", "invalid_user_combination": "they are of another organization",
		"method_not_supported_for_channel_type": "the bot cannot write in conversations of this type", "messages_tab_disabled": "the app's Messages tab is switched off",
		"msg_too_long": "the text is too long", "msg_blocks_too_long": "the blocks are too long", "no_text": "there is no text",
		"invalid_blocks": "the blocks are not valid", "invalid_blocks_format": "the blocks are not valid",
		"channel_not_found": "there is no such channel", "is_archived": "the channel is archived", "not_in_channel": "the bot is not in the channel",
		"user_not_in_channel": "they are not in the channel",
	}}
	// ofGroup: a user group.
	ofGroup = meaning{ErrGone, map[string]string{"no_such_subteam": "there is no such user group", "subteam_not_found": "there is no such user group"}}
	// ofTrigger: what lets a form be opened.
	ofTrigger = meaning{ErrExpired, map[string]string{
		"expired_trigger_id": "the trigger expired", "exchanged_trigger_id": "the trigger was used before", "invalid_trigger_id": "it is no trigger",
		"duplicate_external_id": "the form was opened before",
		"trigger_expired":       "the trigger expired", "trigger_exchanged": "the trigger was used before", "invalid_trigger": "it is no trigger",
	}}
	// ofView: an open form.
	ofView = meaning{ErrGone, map[string]string{"not_found": "the form was closed", "hash_conflict": "the form was replaced meanwhile"}}

	// unseen: the bot cannot reach the person in this channel, but maybe in a direct message.
	unseen = []string{"not_in_channel", "channel_not_found", "user_not_in_channel", "is_archived", "no_permission", "restricted_action",
		"restricted_action_read_only_channel", "restricted_action_thread_only_channel", "channel_type_not_supported"}

	// limited: limits of the workspace or of all calls of a method. channelLimited: too many messages in one channel.
	limited = []string{"ratelimited", "message_limit_exceeded"}
)

const channelLimited = "rate_limited"
