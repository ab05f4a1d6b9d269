from __future__ import annotations

from holdfast.model.news import News


def test_news_of_everything_name_nothing_and_mean_all():
    news = News.of_everything()
    assert (news.queues, news.jobs) == ({"*"}, ["*"])
    assert news
    assert not News()
